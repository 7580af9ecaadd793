enum BelfryLoopPlaceholder {}
