import BelfryClient
import BelfryServer
import Foundation

/// One running command: its arguments, its environment and its console.
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

// MARK: - On the broker's machine

extension Invocation {
  /// A variable of the environment. Composed environments use an empty one to say "not set".
  func variable(_ name: String) -> String? {
    environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The broker's data folder. It is found as `belfry serve` finds it, except that no configuration file is
  /// read.
  var dataFolder: String {
    arguments.text("data") ?? variable("BELFRY_DATA") ?? Configuration().dataFolder
  }
}

extension CommandOption {
  static let dataFolder = value("data", "DIR", "the broker's data folder; by default BELFRY_DATA or data")
}

// MARK: - Reaching a broker

extension CommandOption {
  /// The options of every command that acts for an account.
  static let connection = reaching + acting + [json]
  /// The options of a command that is about the broker and no account.
  static let brokerConnection = reaching + [json]

  private static let reaching: [CommandOption] = [
    .value("url", "URL", "the broker's URL; by default BELFRY_URL or http://127.0.0.1:8080"),
    .value(
      "ca", "FILE",
      "a PEM file with the authorities that sign the broker's certificate; by default BELFRY_CA or the system's"
    ),
    .value(
      "token", "TOKEN",
      "the token; BELFRY_TOKEN is safer, since arguments are visible to everybody on the machine"),
  ]
  private static let acting: [CommandOption] = [
    .value("as", "ACCID", "the account to act for, with an app or operator token"),
    .value("device", "ID", "the device that acts, if the token names none"),
  ]
  private static let json = flag("json", "print one JSON value per line")
}

extension Invocation {
  static let standardURL = "http://127.0.0.1:8080"

  /// The token alone, even if it was copied from a header with its `Bearer`.
  private var token: String {
    let text = (arguments.text("token") ?? environment["BELFRY_TOKEN"] ?? "")
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let scheme = "bearer "
    return text.lowercased().hasPrefix(scheme)
      ? text.dropFirst(scheme.count).trimmingCharacters(in: .whitespaces) : text
  }

  /// The account that the command acts for, as far as the command line knows it: `--as`, or the one of a user's token.
  var actingAccount: String? { arguments.text("as") ?? TokenSubject.account(of: token) }

  /// True if the token is a user's, as far as the command line can read it.
  var isUser: Bool { TokenSubject.account(of: token) != nil }

  func client() throws(UsageError) -> BelfryClient {
    let text = arguments.text("url") ?? variable("BELFRY_URL") ?? Self.standardURL
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host()?.isEmpty == false
    else {
      let place = arguments.isSet("url") ? "--url" : "BELFRY_URL"
      throw UsageError("\(place) must begin with http:// or https:// and name a host, not \(text)")
    }
    guard !token.isEmpty else {
      throw UsageError(
        "a token is needed: --token TOKEN, or BELFRY_TOKEN in the environment",
        suggestion: "export BELFRY_TOKEN=$(belfry token --data DIR --sub ACCID), on the broker's machine")
    }
    var client = BelfryClient(
      baseURL: url, token: token, account: try arguments.account("as"),
      device: try arguments.device("device"), authorityFile: arguments.text("ca") ?? variable("BELFRY_CA"))
    // Somebody is looking at the terminal, so an error now is better than a success in a few seconds.
    client.attemptsLimit = 1
    return client
  }
}
