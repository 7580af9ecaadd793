enum BelfryHTTPPlaceholder {}
