import BelfryInterface
import BelfryModel
import FoundationEssentials

// Properties as operands and options, and their values as words.

extension Property {
  /// `durationSeconds` is `--duration-seconds`; an id has the name of its thing.
  var commandName: String { Self.commandName(of: name) }

  /// - Parameter name: a field's, as the wire has it.
  static func commandName(of name: String) -> String {
    let word = renamed[name] ?? (name.hasSuffix("Id") ? String(name.dropLast(2)) : name)
    return word.reduce(into: "") { text, character in
      if character.isUppercase { text.append("-") }
      text.append(character.lowercased())
    }
  }

  var operandName: String { commandName.uppercased() }
  /// The heading of its column.
  var heading: String {
    let words = commandName.replacing("-", with: " ").uppercased()
    // An answer with a new key also has the key itself.
    return name == "keyId" ? words + " ID" : words
  }

  /// Names that differ, because every command has `--url` and `--token` for the broker and the caller.
  private static let renamed = [
    "url": "link", "token": "invitation", "ttlSeconds": "ttl", "messageServerId": "message",
  ]

  var option: CommandOption {
    var option = plainOption
    if SharedFields.accompanyingNames.contains(name) {
      option.namesElsewhere = (SharedFields.accompanyingNames + ["text"]).filter { $0 != name }
    }
    option.namesElsewhere += Self.namesElsewhere[name] ?? []
    if case .numbers(_, let words) = shape.bare { option.otherChoices = words.map { "\($0.number)" } }
    return option
  }

  /// Names that other programs use for fields.
  private static let namesElsewhere = [
    "durationSeconds": ["for", "duration", "minutes", "seconds"], "subject": ["topic", "name", "title"],
  ]

  private var plainOption: CommandOption {
    switch shape.bare {
    case .flag: .choice(commandName, ["true", "false"], meaning)
    case .words(_, let words): .choice(commandName, words, meaning)
    case .numbers(_, let words): .choice(commandName, words.map(\.word), meaning(inWords: words))
    case .list(_, let counts):
      .list(commandName, namesTypes ? "TYPE" : shape.placeholder, meaning, mayBeEmpty: counts.contains(0))
    case .time: .value(commandName, shape.placeholder, meaning(as: TimeText.inputRule(direction)))
    case .integer where isDuration: .value(commandName, "TIME", meaning(as: DurationText.inputRule))
    case .message where takesTime: .value(commandName, "ID|TIME", meaning(as: TimeText.inputRule(direction)))
    default: .value(commandName, shape.placeholder, meaning)
    }
  }

  /// The meaning for other callers has the numbers of the choices. The command line takes words.
  private func meaning(inWords words: [NumberWord]) -> String {
    words.reduce(meaning.replacing(#/ \(\d\)/#, with: "")) { text, choice in
      text.replacing("\(choice.number): ", with: "\(choice.word): ")
    }
  }

  /// The meaning and the form of a word. The meaning for other callers names the unit of the number that they send.
  private func meaning(as rule: String) -> String {
    let meaning = meaning.replacing(" in seconds", with: "").replacing(
      " in milliseconds since 1970", with: "")
    let parts = meaning.split(separator: "; ", maxSplits: 1)
    let start = parts.first ?? ""
    // "the duration: a duration such as" says the word twice.
    let repeated = "a \(start.split(separator: " ").last ?? "")"
    let ruled =
      if rule.hasPrefix("\(repeated) such as") {
        "\(start),\(rule.dropFirst(repeated.count))"
      } else if rule.hasPrefix("\(repeated) (") {
        "\(start)\(rule.dropFirst(repeated.count))"
      } else {
        "\(start): \(rule)"
      }
    return ([ruled] + parts.dropFirst().map(String.init)).joined(separator: "; ")
  }

  /// One word as the wire has it.
  ///
  /// - Parameters:
  ///   - shape: the property's, unless it is a list.
  ///   - source: the option or operand it was given as.
  func value(
    of text: String, as shape: Shape? = nil, named source: String
  ) throws(UsageError) -> JSONValue {
    let shape = (shape ?? self.shape).bare
    if namesTypes, Int64(text) == nil {
      guard let code = NotificationText.code(ofTypeNamed: text) else { throw .noType(text, givenAs: source) }
      return .integer(Int64(code))
    }
    // Such a number is a message id by its form, but the broker takes it for a time, in 1970 or soon after.
    if takesTime, let flaw = UsageError(time: text, givenAs: source) { throw flaw }
    guard let value = value(ofWord: text, as: shape) else {
      if shape == .time, let flaw = UsageError(time: text, givenAs: source) { throw flaw }
      // A key is no word for a screen or a log.
      let given = OperatorRoutes.isKey(text) ? "a key itself" : text
      throw UsageError("\(source) must be \(rule(for: shape)), not \(given)\(shape.hint)")
    }
    return value
  }

  private func rule(for shape: Shape) -> String {
    if isDuration { return DurationText.inputRule }
    let rule = shape.rule(direction)
    return takesTime ? "\(rule), or \(TimeText.inputRule(direction))" : rule
  }

  private func value(ofWord text: String, as shape: Shape) -> JSONValue? {
    if isDuration { return DurationText.seconds(of: text).map { .integer(Int64($0)) } }
    if let value = shape.value(ofWord: text, direction) { return value }
    guard takesTime else { return nil }
    // No id is 0, so a time before 1970 becomes its first millisecond.
    return TimeText.unixMilliseconds(of: text, direction, now: Date()).map { .string("\(max($0, 1))") }
  }

  /// True for a number of seconds, which is given as a length of time.
  var isDuration: Bool {
    guard case .integer = shape.bare else { return false }
    return name.hasSuffix("Seconds")
  }

  /// True for the codes of types of notifications. Their names may be given in their place.
  var namesTypes: Bool {
    switch (name, shape.bare) {
    case ("type", .integer): true
    case ("types", .list(let element, _)): if case .integer = element.bare { true } else { false }
    default: false
    }
  }

  /// True for the notification from which on something is done again. A time may be given in its place.
  var takesTime: Bool { name == "from" && shape.bare == .message }

  /// These times are in the past; all other times are in the future.
  private var direction: TimeText.Direction { name == "since" || takesTime ? .ago : .ahead }
}

extension JSONValue {
  /// The value in the form of a query.
  var queryText: String? {
    switch self {
    case .string(let text): text
    case .integer(let number): String(number)
    case .bool(let flag): String(flag)
    default: nil
    }
  }
}

extension Shape {
  /// Nil if the word cannot be a value of this kind.
  fileprivate func value(ofWord text: String, _ direction: TimeText.Direction) -> JSONValue? {
    switch self {
    case .account: AccountID(text).map { .string($0.text) }
    case .device: DeviceID(text).map { .string($0.text) }
    case .id: EntityID(text).map { .string($0.text) }
    case .message: MessageID(text).map { .string($0.text) }
    case .flag: text == "true" ? true : text == "false" ? false : nil
    case .numbers(_, let words):
      words.first { $0.word == text || "\($0.number)" == text }.map { .integer(Int64($0.number)) }
    case .integer: Int64(text).map { .integer($0) }
    case .time: TimeText.unixMilliseconds(of: text, direction, now: Date()).map { .integer($0) }
    case .object, .json, .jsonObject, .map: try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    default: .string(text)
    }
  }

  /// The form that a word of this kind must have.
  fileprivate func rule(_ direction: TimeText.Direction) -> String {
    switch self {
    case .account, .device: "letters, digits and _ . @ -"
    case .id: "an id of digits, as the broker gave it"
    case .message: "a message id of digits, as the broker gave it"
    case .integer: "a whole number"
    case .time: TimeText.inputRule(direction)
    case .object, .json, .jsonObject, .map: "JSON"
    default: "a \(placeholder.lowercased())"
    }
  }

  /// Advice for a word that is not of this kind.
  fileprivate var hint: String {
    switch self {
    case .object, .json, .jsonObject, .map: "; put text in quotes, as in '\"text\"'"
    default: ""
    }
  }

  fileprivate var placeholder: String {
    switch bare {
    case .account: "ACCID"
    case .device, .id, .message: "ID"
    case .integer: "N"
    case .time: "TIME"
    case .words(_, let words): words.joined(separator: "|")
    case .list(let element, _): element.placeholder
    case .object, .json, .jsonObject, .map: "JSON"
    default: "TEXT"
    }
  }
}
