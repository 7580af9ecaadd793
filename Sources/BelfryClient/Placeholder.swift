enum BelfryClientPlaceholder {}
