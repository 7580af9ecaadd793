/// Redis's answer to one command, as one of RESP2's six kinds.
package enum RedisReply: Sendable, Hashable {
  case status(String)
  case error(String)
  case integer(Int64)
  case bulk(ArraySlice<UInt8>)
  case array(RedisReplies)
  /// A key, a member or a field that does not exist.
  case null
}

/// Accessors throw `unexpectedReply` if the reply is of another kind, and `replied` if it is an error.
extension RedisReply {
  package var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// An integer reply, or a bulk that spells one, as hash fields hold them.
  package func integer() throws(RedisError) -> Int64 {
    switch self {
    case .integer(let value): return value
    case .bulk(let bytes):
      guard let value = Int64(String(decoding: bytes, as: UTF8.self)) else { throw mismatch("an integer") }
      return value
    default: throw mismatch("an integer")
    }
  }

  package func bytes() throws(RedisError) -> ArraySlice<UInt8> {
    guard case .bulk(let bytes) = self else { throw mismatch("a bulk string") }
    return bytes
  }

  /// A status, or a bulk of valid UTF-8; other bytes throw.
  package func string() throws(RedisError) -> String {
    switch self {
    case .status(let text): return text
    case .bulk(let bytes):
      guard let text = String(validating: bytes, as: UTF8.self) else { throw mismatch("UTF-8 text") }
      return text
    default: throw mismatch("a string")
    }
  }

  package func array() throws(RedisError) -> RedisReplies {
    guard case .array(let elements) = self else { throw mismatch("an array") }
    return elements
  }

  /// An array of exactly this many elements.
  package func array(count: Int) throws(RedisError) -> RedisReplies {
    guard case .array(let elements) = self, elements.count == count else {
      throw mismatch("an array of \(count)")
    }
    return elements
  }

  /// The reply itself, or nil in place of null: `try reply.ifPresent?.integer()`.
  package var ifPresent: RedisReply? {
    isNull ? nil : self
  }

  /// True if the reply, or one of its elements, is exactly these bytes.
  package func holds(_ bytes: [UInt8]) -> Bool {
    switch self {
    case .bulk(let found): found == bytes[...]
    case .array(let elements): elements.contains { $0.holds(bytes) }
    default: false
    }
  }

  func mismatch(_ wanted: String) -> RedisError {
    if case .error(let message) = self { return .replied(message, to: "reply") }
    return RedisError(.unexpectedReply, cause: "expected \(wanted), got \(kind)", place: "reply")
  }

  /// The kind of reply, for errors, without its content, which may be private and large.
  private var kind: String {
    switch self {
    case .status: "a status"
    case .error: "an error"
    case .integer: "an integer"
    case .bulk(let bytes): "a bulk string of \(bytes.count) bytes"
    case .array(let elements): "an array of \(elements.count)"
    case .null: "null"
    }
  }
}

/// The reply of INFO: a line `name:value` for each fact, in sections with headings.
package struct RedisInfo: Sendable {
  private var facts: [Substring: Substring] = [:]

  package init(_ text: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { facts[parts[0]] = parts[1] }
    }
  }

  package init(_ reply: RedisReply) throws(RedisError) { self.init(try reply.string()) }

  /// Nil if this version of Redis does not have the fact.
  package subscript(_ name: Substring) -> Substring? { facts[name] }

  /// `standalone`, `cluster` or `sentinel`, of the section `server`. Valkey 8 has another name for it.
  package var mode: Substring? { facts["redis_mode"] ?? facts["server_mode"] }

  /// The product in the form that users know, from the section `server`: Redis 7.0.15, Valkey 9.1.2. Valkey
  /// also says which Redis it is compatible with.
  package var product: String {
    if let version = facts["valkey_version"] { return "Valkey \(version)" }
    return "Redis \(facts["redis_version"] ?? "?")"
  }
}
