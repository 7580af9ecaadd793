package import BelfryRedis

extension RedisLimits {
  /// Nothing times out by accident on a machine that does much else.
  package static var patient: RedisLimits {
    var limits = RedisLimits()
    (limits.commandTimeout, limits.waitForConnection) = (.seconds(60), .seconds(60))
    (limits.connectTimeout, limits.setUpTimeout) = (.seconds(60), .seconds(60))
    return limits
  }
}
