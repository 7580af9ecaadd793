enum BelfryServerPlaceholder {}
