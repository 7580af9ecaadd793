import BelfryClient
import Foundation

/// One command under way: what it was given, and where it prints.
struct Invocation: Sendable {
  let arguments: Arguments
  let environment: [String: String]
  let console: Console

  var printsJSON: Bool { arguments.isSet("json") }

  /// Prints a value for a program, or lines for a person.
  func print(_ value: some Encodable, _ lines: @autoclosure () -> [String]) throws {
    if printsJSON {
      console.print([try JSONLine.text(value)])
    } else {
      console.print(lines())
    }
  }
}

// MARK: - Reaching a broker

extension CommandOption {
  /// What every command that reaches a broker takes.
  static let connection: [CommandOption] = [
    .value("url", "URL", "where the broker is; BELFRY_URL or http://127.0.0.1:8080 otherwise"),
    .value(
      "token", "TOKEN", "who asks; BELFRY_TOKEN in the environment is safer, arguments are visible to all"),
    .value("as", "ACCID", "the account to act for, with an app or operator token"),
    .value("device", "ID", "the device that acts, when the token does not name one"),
    .flag("json", "print one JSON value a line"),
  ]
}

extension Invocation {
  static let standardURL = "http://127.0.0.1:8080"

  func client() throws(UsageError) -> BelfryClient {
    // An empty variable is how composed environments say "not set".
    let variable = environment["BELFRY_URL"].flatMap { $0.isEmpty ? nil : $0 }
    let text = arguments.text("url") ?? variable ?? Self.standardURL
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host()?.isEmpty == false
    else {
      let place = arguments.isSet("url") ? "--url" : "BELFRY_URL"
      throw UsageError("\(place) must begin with http:// or https:// and name a host, not \(text)")
    }
    let token = arguments.text("token") ?? environment["BELFRY_TOKEN"] ?? ""
    guard !token.isEmpty else {
      throw UsageError(
        "a token is needed: --token TOKEN, or BELFRY_TOKEN in the environment",
        suggestion: "export BELFRY_TOKEN=$(belfry token --data DIR --sub ACCID), on the broker's machine")
    }
    var client = BelfryClient(
      baseURL: url, token: token, account: try arguments.account("as"), device: try arguments.device("device")
    )
    // Somebody is looking at the terminal: an error now is better than a success in a few seconds.
    client.attemptsLimit = 1
    return client
  }
}
