import BelfryRedis

/// Divides commands into parts that are sent one after the other. A transaction is never cut: commands of other callers would
/// come between its own.
struct PipelineParts {
  /// The index after the last command of each part.
  private(set) var ends: [Int] = []

  /// - Parameter count: a part ends as soon as it has so many commands, or at the end of the transaction that it is in then.
  init(of commands: [RedisCommand], commandsEach count: Int) {
    var (start, isInTransaction) = (0, false)
    for (index, command) in commands.enumerated() {
      switch command.name {
      case "MULTI": isInTransaction = true
      case "EXEC": isInTransaction = false
      default: break
      }
      guard !isInTransaction, index + 1 - start >= count else { continue }
      ends.append(index + 1)
      start = index + 1
    }
    if start < commands.count { ends.append(commands.count) }
  }
}
