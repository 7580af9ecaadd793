import BelfryBytes

extension RedisCommand {
  /// The slot of the command's first key; nil of a command without a key, which any node can answer. All keys of a command
  /// have one slot, or no node of a cluster carries it out.
  var slot: Int? {
    switch name {
    case "FCALL", "FCALL_RO", "EVALSHA": argument(3).map { ClusterSlot.of(key: $0) }
    // Its first argument is a word, such as `STREAM`.
    case "XINFO": argument(2).map { ClusterSlot.of(key: $0) }
    case "TIME", "INFO", "PING", "FUNCTION", "SCAN", "MULTI", "EXEC", "ASKING", "WAIT", "CLUSTER": nil
    default: argument(1).map { ClusterSlot.of(key: $0) }
    }
  }
}

/// Commands that stay together: one, or a transaction from MULTI to EXEC.
struct RoutedUnit {
  var commands: Range<Int>
  /// Nil if any node will do.
  var slot: Int?

  static func units(of commands: [RedisCommand]) -> [RoutedUnit] {
    var units: [RoutedUnit] = []
    var index = 0
    while index < commands.count {
      var end = index + 1
      var slot = commands[index].slot
      if commands[index].name == "MULTI" {
        while end < commands.count, commands[end - 1].name != "EXEC" {
          slot = slot ?? commands[end].slot
          end += 1
        }
      }
      units.append(RoutedUnit(commands: index..<end, slot: slot))
      index = end
    }
    return units
  }
}
