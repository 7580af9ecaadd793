/// One command, as data: parsing, help and dispatch all come from here.
struct Command: Sendable {
  /// One word, or a group's name and a word, such as `server create`.
  let name: String
  /// Other names, which work, too.
  var otherNames: [String] = []
  /// A phrase for lists of commands.
  let summary: String
  /// Details that the summary leaves open, for the command's own help.
  var detail: String?
  var operands: [Operand] = []
  var options: [CommandOption] = []
  /// The advice on options that the command does not have, by their names. It takes the place of a similar name.
  var adviceOnOptions: [String: String] = [:]
  /// The advice if a word stands where the command takes none; nil to derive it from the options.
  var strayAdvice: String?
  /// True if the command changes something. It then takes ``CommandOption/yes`` even if it does not ask, so that a script
  /// can always give it.
  var changesSomething = false
  let examples: [Example]
  let run: @Sendable (Invocation) async throws -> Void

  struct Example: Sendable {
    /// Without the leading `belfry`.
    let words: String
    /// Empty if the command's summary is enough.
    let meaning: String

    init(_ words: String, _ meaning: String = "") {
      self.words = words
      self.meaning = meaning
    }
  }

  var words: [Substring] { name.split(separator: " ") }
  /// The first of two words; nil for a command that stands alone.
  var group: String? { words.count > 1 ? String(words[0]) : nil }
}

/// A word that stands without an option's name.
struct Operand: Sendable {
  /// As the help shows it, in capitals.
  let name: String
  let meaning: String
  var isRequired = true
  /// Takes all the words that are left; the last operand only.
  var repeats = false
  /// The words that are allowed there, if only certain words are.
  var choices: [String] = []
  /// The number of characters of a code that was made at random. Such a code may begin with two dashes.
  var codeLength: Int?
}

/// An option of a command.
struct CommandOption: Sendable {
  enum Kind: Sendable {
    case flag
    /// Takes a value; the word stands for it in the help, in capitals.
    case value(String)
    case choice([String])
    /// Takes values separated by commas, may stand several times and, in a command without operands, takes
    /// all the words up to the next option.
    case list(String)
  }

  /// Without the dashes.
  let name: String
  let kind: Kind
  let meaning: String
  var isRequired = false
  /// Names that other programs use for it. They do not work; the refusal gives the name here.
  var namesElsewhere: [String] = []
  /// Numbers that it takes, too: those that stand for its choices over HTTP.
  var otherChoices: [String] = []
  /// True for a list that may be given as an empty one, `--spaces ""`, which is not the same as to leave it out.
  var mayBeEmpty = false
  /// The field of a request that it sets; nil if its own name follows from the field's.
  var field: String?

  static func flag(_ name: String, _ meaning: String) -> CommandOption {
    CommandOption(name: name, kind: .flag, meaning: meaning)
  }
  static func value(_ name: String, _ placeholder: String, _ meaning: String) -> CommandOption {
    CommandOption(name: name, kind: .value(placeholder), meaning: meaning)
  }
  static func choice(_ name: String, _ choices: [String], _ meaning: String) -> CommandOption {
    CommandOption(name: name, kind: .choice(choices), meaning: meaning)
  }
  static func list(
    _ name: String, _ placeholder: String, _ meaning: String, mayBeEmpty: Bool = false
  ) -> CommandOption {
    CommandOption(name: name, kind: .list(placeholder), meaning: meaning, mayBeEmpty: mayBeEmpty)
  }

  var required: CommandOption {
    var option = self
    option.isRequired = true
    return option
  }

  func setting(_ field: String) -> CommandOption {
    var option = self
    option.field = field
    return option
  }

  func withNamesElsewhere(_ names: String...) -> CommandOption { withNamesElsewhere(names) }

  func withNamesElsewhere(_ names: [String]) -> CommandOption {
    var option = self
    option.namesElsewhere = names
    return option
  }
}
