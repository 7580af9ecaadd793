// Summaries of the interface's rows, which say what to do, as sentences on what was done.

extension String {
  /// A sentence's beginning within another one.
  var loweringFirst: String { prefix(1).lowercased() + dropFirst() }

  /// Without what a sentence says of special cases.
  var mainClause: String {
    String(prefix { !",;:".contains($0) })
  }

  /// `Remove a server` is `removed a server`.
  var inThePast: String {
    let verb = String(prefix { $0 != " " }).lowercased()
    return Self.past(of: verb) + dropFirst(verb.count)
  }

  private static let irregular = [
    "keep": "kept", "let": "let", "make": "made", "put": "put", "set": "set", "take": "took",
    "leave": "left", "step": "stepped", "log": "logged", "say": "said", "give": "gave",
    "ban": "banned", "unban": "unbanned", "stop": "stopped", "transfer": "transferred", "replay": "replayed",
  ]

  private static func past(of verb: String) -> String {
    irregular[verb]
      ?? (verb.hasSuffix("e") ? verb + "d" : verb.hasSuffix("y") ? verb.dropLast() + "ied" : verb + "ed")
  }
}
