enum BelfryRedisPlaceholder {}
