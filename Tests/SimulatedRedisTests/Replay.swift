import TestKit
import Testing

@testable import SimulatedRedis

/// The log of effects leads to the same data.
func checkReplay(of redis: SimulatedRedis, _ comment: Comment) {
  let again = SimulatedRedis(redis.options, replaying: redis.log.effects)
  #expect(difference(again, redis) == [], comment)
  let half = redis.log.effects.count / 2
  let replica = SimulatedRedis(
    redis.options,
    restoring: SimulatedRedis(redis.options, replaying: redis.log.effects.prefix(half)).snapshot)
  for effect in redis.log.effects[half...] { replica.apply(effect) }
  #expect(difference(replica, redis) == [], comment)
}

/// The keys that one has and the other has not, or with another value.
private func difference(_ one: SimulatedRedis, _ other: SimulatedRedis) -> [String] {
  Set(one.database.keys.keys).union(other.database.keys.keys)
    .filter { one.database[$0] != other.database[$0] }.map(\.readable)
}
