/// The pace at which all partitions are swept.
///
/// A sweep looks at every space, even if nothing was done there. If a keyspace with a million idle spaces
/// were swept as often as a small one, its Redis would be busy with nothing else. So a round takes longer
/// with more spaces, and the cost of sweeping per second stays the same.
/// costs in a second stays the same.
struct SweepPace: Hashable {
  /// The time between two partitions of a round, if there are few spaces.
  static let stepMinMilliseconds: Int64 = 250
  /// The longest time between two rounds, for deployments with few partitions in use. It is half of retention
  /// if that is less.
  static let pauseMaxMilliseconds: Int64 = 30_000
  /// The share of a round for one space: fifty times as long as Redis takes to sweep a space in which nothing
  /// is to do.
  static let millisecondsPerSpace: Int64 = 3

  /// The time between two partitions.
  let stepMilliseconds: Int64
  /// The time for which a partition is left alone after any broker has begun to sweep it. It is a little less
  /// than a round takes, so that several brokers together sweep no more than one would.
  let intervalMilliseconds: Int64

  /// - Parameters:
  ///   - partitions: the number of partitions in use.
  ///   - retention: a round takes at most half of it. Otherwise expired entries would stay in memory for many
  ///     times as long.
  init(spaces: Int, partitions: Int, retentionMilliseconds retention: Int64) {
    let partitions = Int64(max(partitions, 1))
    let spread = min(Int64(spaces) * Self.millisecondsPerSpace, retention / 2)
    stepMilliseconds = max(Self.stepMinMilliseconds, spread / partitions)
    intervalMilliseconds = max(Self.pause(retentionMilliseconds: retention), stepMilliseconds * partitions)
  }

  /// The time between two rounds.
  static func pause(retentionMilliseconds retention: Int64) -> Int64 {
    min(pauseMaxMilliseconds, retention / 2)
  }
}
