import BelfryModel
import FoundationEssentials

/// The values given on the command line, by name. Reading a value checks it. So a wrong one is refused by the
/// name of its option before anything is sent.
struct Arguments: Sendable, Hashable {
  let operands: [String]
  private let values: [String: [String]]
  /// The last word of a list that stood alone behind the list's first value, by the name of the option.
  private let lastInList: [String: String]

  init(operands: [String], values: [String: [String]], lastInList: [String: String] = [:]) {
    self.operands = operands
    self.values = values
    self.lastInList = lastInList
  }

  func isSet(_ name: String) -> Bool { values[name] != nil }
  func text(_ name: String) -> String? { values[name]?.first }
  func list(_ name: String) -> [String] { values[name] ?? [] }
  /// A word that became the last value of a list, but perhaps was meant as something else: `carol Hello` has it.
  func lastWord(ofList name: String) -> String? { lastInList[name] }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    try value(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// A length of time, in seconds.
  func seconds(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    try value(name, DurationText.inputRule(within: range)) { text in
      DurationText.seconds(of: text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// A time in the future, in milliseconds since 1970.
  func comingTime(_ name: String) throws(UsageError) -> Int64? {
    if let text = text(name), let flaw = UsageError(time: text, givenAs: "--\(name)") { throw flaw }
    return try value(name, TimeText.inputRule(.ahead)) {
      TimeText.unixMilliseconds(of: $0, .ahead, now: Date())
    }
  }

  func entity(_ name: String) throws(UsageError) -> EntityID? {
    try value(name, Self.entityRule) { EntityID($0) }
  }
  func message(_ name: String) throws(UsageError) -> MessageID? {
    try value(name, Self.messageRule) { MessageID($0) }
  }
  func account(_ name: String) throws(UsageError) -> AccountID? {
    try value(name, Self.accountRule) { AccountID($0) }
  }
  func device(_ name: String) throws(UsageError) -> DeviceID? {
    try value(name, Self.accountRule) { DeviceID($0) }
  }

  /// The account of an option that the command requires.
  func neededAccount(_ name: String) throws(UsageError) -> AccountID {
    guard let account = try account(name) else { throw UsageError("--\(name) is needed") }
    return account
  }

  func accounts(_ name: String) throws(UsageError) -> [AccountID] {
    try Self.each(list(name), "--\(name)", Self.accountRule) { AccountID($0) }
  }

  func messages(_ name: String) throws(UsageError) -> [MessageID] {
    try Self.each(list(name), "--\(name)", Self.messageRule) { MessageID($0) }
  }

  func json(_ name: String) throws(UsageError) -> JSONValue? {
    try value(name, "JSON", hint: "; put text in quotes, as in '\"text\"'") { text in
      try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }
  }

  static func message(_ word: String, _ source: String) throws(UsageError) -> MessageID {
    guard let message = MessageID(word) else {
      throw UsageError("\(source) must be \(messageRule), not \(word)")
    }
    return message
  }

  static func accounts(_ words: [String], _ source: String) throws(UsageError) -> [AccountID] {
    try each(words, source, accountRule) { AccountID($0) }
  }
}

// MARK: - Checking

extension Arguments {
  private static let entityRule = "an id of digits, as the broker gave it"
  private static let messageRule = "a message id of digits, as the broker gave it"
  private static let accountRule = "letters, digits and _ . @ -"

  private func value<Value>(
    _ name: String, _ rule: String, hint: String = "", _ read: (String) -> Value?
  ) throws(UsageError) -> Value? {
    guard let text = text(name) else { return nil }
    guard let value = read(text) else { throw UsageError("--\(name) must be \(rule), not \(text)\(hint)") }
    return value
  }

  private static func each<Value>(
    _ words: [String], _ source: String, _ rule: String, _ read: (String) -> Value?
  ) throws(UsageError) -> [Value] {
    var values: [Value] = []
    for word in words {
      guard let value = read(word) else { throw UsageError("\(source) must be \(rule), not \(word)") }
      values.append(value)
    }
    return values
  }
}
