enum BelfryModelPlaceholder {}
