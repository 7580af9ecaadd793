import BelfryModel
import Testing

/// One request of a person in a play. `{server}` and similar words stand for the things that the play has
/// made.
struct Line: Sendable {
  var by: String
  var method: String
  var path: String
  var body: JSONValue?
  /// The name that the new thing has from then on.
  var name: String?

  init(_ by: String, _ method: String, _ path: String, _ body: JSONValue? = nil, as name: String? = nil) {
    self.by = by
    self.name = name
    self.method = method
    self.path = path
    self.body = body
  }
}

/// A notification that an act makes: its type, and the accounts that receive it, in words.
struct Heard: Sendable {
  var type: Int
  var accounts: [String]

  init(_ type: Int, _ accounts: String) {
    self.type = type
    self.accounts = accounts.split(separator: " ").map(String.init)
  }
}

/// One action of a person, the requests before it, and exactly the accounts that receive a notification.
struct Act: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var before: [Line] = []
  var line: Line
  /// Below the threshold, and above it where that is different.
  var heard: [Heard]
  var heardAbove: [Heard]?

  init(
    _ name: String, after before: [Line] = [], _ line: Line, _ heard: [Heard],
    above heardAbove: [Heard]? = nil
  ) {
    testDescription = name
    self.before = before
    self.line = line
    self.heard = heard
    self.heardAbove = heardAbove
  }
}

/// The setting of acts: a population, each account on its devices, and a space that is made again for every
/// act.
struct Stage: Sendable {
  /// The accounts and their devices.
  var cast: [String: [String]]
  /// Makes the space and its content: members, roles, mutes, bans.
  var setUp: [Line]
}
