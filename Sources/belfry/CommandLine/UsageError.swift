/// The command line cannot be carried out. The error names the wrong word and, if there is one, the nearest
/// right one.
struct UsageError: Error, Hashable {
  var message: String
  /// The word that was probably meant.
  var suggestion: String?

  init(_ message: String, suggestion: String? = nil) {
    self.message = message
    self.suggestion = suggestion
  }

  static func noType(_ word: String, givenAs source: String) -> UsageError {
    UsageError(
      "\(source) must be the code or the name of a type, and no type is called \(word); belfry types lists all",
      suggestion: NotificationText.typeName(near: word).map { "\(source) \($0)" })
  }

  /// Nil if the text is a time, or looks like none.
  init?(time text: String, givenAs source: String) {
    guard let flaw = TimeText.flaw(of: text) else { return nil }
    self.init("\(source) must be a time; \(flaw.reason)", suggestion: flaw.meant.map { "\(source) \($0)" })
  }
}

/// The command was understood and could not be done, for a reason that is not a broker's refusal.
struct CommandFailure: Error, Hashable {
  /// A stable word, as a broker's refusals have one.
  var code: String
  var detail: String
  /// A suggestion for the user, if there is one.
  var advice: String?
  var exitCode = ExitCode.refused
}
