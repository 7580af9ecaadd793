/// How often all partitions are swept, and how soon one after the other.
///
/// A sweep looks at every space, whether or not anything was done there. A keyspace with a million idle spaces that was swept
/// as often as a small one would keep its Redis busy with nothing else. So a round takes longer with more spaces, and what sweeping
/// costs in a second stays the same.
struct SweepPace: Hashable {
  /// Between two partitions of a round, where there are few spaces.
  static let stepMinMilliseconds: Int64 = 250
  /// Between two rounds, for deployments with few partitions in use; half of retention if that is less.
  static let pauseMaxMilliseconds: Int64 = 30_000
  /// The share of a round for one space: fifty times what Redis takes to sweep one in which there is nothing to do.
  static let millisecondsPerSpace: Int64 = 3

  /// Between two partitions.
  let stepMilliseconds: Int64
  /// How long a partition is left alone after any broker has begun to sweep it. A little less than a round takes, so that
  /// several brokers together sweep no more than one would.
  let intervalMilliseconds: Int64

  /// - Parameters:
  ///   - partitions: how many are in use.
  ///   - retention: a round takes half of it at most, or what is over would stand in memory for many times as long.
  init(spaces: Int, partitions: Int, retentionMilliseconds retention: Int64) {
    let partitions = Int64(max(partitions, 1))
    let spread = min(Int64(spaces) * Self.millisecondsPerSpace, retention / 2)
    stepMilliseconds = max(Self.stepMinMilliseconds, spread / partitions)
    intervalMilliseconds = max(Self.pause(retentionMilliseconds: retention), stepMilliseconds * partitions)
  }

  /// Between two rounds.
  static func pause(retentionMilliseconds retention: Int64) -> Int64 {
    min(pauseMaxMilliseconds, retention / 2)
  }
}
