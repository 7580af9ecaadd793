enum BelfryHubPlaceholder {}
