import BelfryModel
import Testing

/// One request of somebody in a play. `{server}` and the like stand for what the play has made.
struct Line: Sendable {
  var by: String
  var method: String
  var path: String
  var body: JSONValue?
  /// What it makes is known by this name from then on.
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

/// One thing somebody does, what had to be done before it, and exactly who hears of it.
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

/// Where acts are played: a population, each account on its devices, and a space made anew for every act.
struct Stage: Sendable {
  /// The accounts and their devices.
  var cast: [String: [String]]
  /// Makes the space and what is in it: members, roles, mutes, bans.
  var setUp: [Line]
}
