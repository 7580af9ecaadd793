/// Says if a real Redis's reply has the same meaning as the simulated one. It has the same bytes, too, apart from a few replies
/// whose order nobody can foretell.
extension SimulatedRedis {
  package func areEqual(_ real: SimulatedReply, _ simulated: SimulatedReply, to command: [Bytes]) -> Bool {
    if real == simulated { return true }
    guard let spec = CommandTable.spec(of: command) else { return false }
    switch spec.name {
    case "HKEYS", "SMEMBERS": return isTable(command[1]) && real.sorted == simulated.sorted
    case "HGETALL": return isTable(command[1]) && real.sortedPairs == simulated.sortedPairs
    case "HSCAN", "SSCAN": return isPage(real, of: command[1])
    case "SCAN": return real.sortedPage(\.sorted) == simulated.sortedPage(\.sorted)
    // A choice by chance is compared by its length.
    case "HRANDFIELD", "ZRANDMEMBER":
      if case .bulk = real, case .bulk = simulated { return true }
      return real.count == simulated.count && real.count > 0
    // A real one tells much more.
    case "INFO": return true
    case "EXEC": return real.count == simulated.count && real.sorted == simulated.sorted
    case "FUNCTION": return real.sorted == simulated.sorted
    default: return false
    }
  }

  /// True if the page of a table has nothing but elements of the table.
  private func isPage(_ real: SimulatedReply, of key: Bytes) -> Bool {
    guard case .array(let parts) = real, parts.count == 2, isTable(key) else { return false }
    switch database[key]?.value {
    case .hash(let value):
      return parts[1].pairs.allSatisfy { pair in
        guard case .array(let words) = pair, words.count == 2, case .bulk(let field) = words[0] else {
          return false
        }
        return words[1] == .optional(value[field])
      }
    case .set(let value):
      guard case .array(let members) = parts[1] else { return false }
      return members.allSatisfy { if case .bulk(let member) = $0 { value.contains(member) } else { false } }
    default: return false
    }
  }

  /// A table of Redis is in the order of a hash with a secret.
  private func isTable(_ key: Bytes) -> Bool {
    switch database[key]?.value {
    case .hash(let value): value.isTable
    case .set(let value): value.isTable
    default: false
    }
  }
}

extension SimulatedReply {
  /// With the elements of all arrays in one order, for replies that have none.
  package var sorted: SimulatedReply {
    guard case .array(let elements) = self else { return self }
    return .array(
      elements.map(\.sorted).sorted { $0.encoded.lexicographicallyPrecedes($1.encoded) })
  }

  /// With each two elements as one, and these in one order.
  fileprivate var sortedPairs: SimulatedReply { SimulatedReply.array(pairs).sorted }

  /// Each two elements as one.
  package var pairs: [SimulatedReply] {
    guard case .array(let elements) = self, elements.count % 2 == 0 else { return [self] }
    return stride(from: 0, to: elements.count, by: 2).map { .array([elements[$0], elements[$0 + 1]]) }
  }

  /// A page of a scan, with its elements in one order.
  fileprivate func sortedPage(_ sort: (SimulatedReply) -> SimulatedReply) -> SimulatedReply {
    guard case .array(let parts) = self, parts.count == 2 else { return self }
    return .array([parts[0], sort(parts[1])])
  }

  package var count: Int {
    if case .array(let elements) = self { elements.count } else { 0 }
  }

  /// One line for people to read.
  package var text: String {
    switch self {
    case .status(let text): "+" + text.readable
    case .error(let text): "-" + text.readable
    case .integer(let number): ":\(number)"
    case .bulk(let text): "\"" + text.readable + "\""
    case .array(let elements): "[" + elements.map(\.text).joined(separator: ", ") + "]"
    case .null: "null"
    case .nullArray: "null array"
    }
  }
}

extension [UInt8] {
  /// The beginning, for people to read.
  package var readable: String {
    let text = String(decoding: prefix(300), as: UTF8.self)
    let more = count > 300 ? "… \(count) bytes" : ""
    let needsQuotes = isEmpty || text.contains { $0.isWhitespace || $0.isNewline }
    return (needsQuotes ? text.debugDescription : text) + more
  }
}
