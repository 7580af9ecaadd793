enum BelfryStorePlaceholder {}
