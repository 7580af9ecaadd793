import BelfryInterface
import BelfryModel
import Testing

@testable import belfry

@Suite struct HelpTests {
  private let table = CommandTable.belfry

  private func help(_ words: String...) throws -> [String] {
    guard case .help(let lines) = try table.find(words) else { return [] }
    return lines
  }

  @Test func `everything fits one screen`() throws {
    let lines = try help()
    #expect(lines.count <= 24)
    #expect(lines.allSatisfy { $0.count <= 80 })
    for command in table.commands {
      let names = lines.map { $0.split(separator: "  ").first?.split(separator: ", ") ?? [] }
      #expect(
        names.contains { $0.contains { $0 == command.group ?? command.name } },
        "\(command.name) is not listed"
      )
    }
  }

  @Test func `no words, --help, -h and help mean the same`() throws {
    let overview = try help()
    #expect(!overview.isEmpty)
    #expect(try help("--help") == overview)
    #expect(try help("-h") == overview)
    #expect(try help("help") == overview)
    #expect(try help("help", "server", "create") == help("server", "create", "--help"))
    #expect(try help("help", "server") == help("server"))
  }

  @Test(arguments: CommandTable.belfry.commands.map(\.name))
  func `each command's help tells its options and examples, within the screen's width`(name: String) throws {
    let command = try #require(table.commands.first { $0.name == name })
    let lines = try help(name.split(separator: " ").map(String.init) + ["--help"])
    for option in command.options + [.flag("help", "")] {
      #expect(lines.contains { $0.hasPrefix("  --\(option.name)") }, "--\(option.name) is not told")
    }
    for operand in command.operands { #expect(lines.contains { $0.hasPrefix("  \(operand.name) ") }) }
    #expect(!command.examples.isEmpty)
    for line in lines { #expect(line.count <= 80, "\(line)") }
    // The summary is the first line, and says it once.
    #expect(command.examples.allSatisfy { $0.meaning != command.summary })
  }

  @Test func `help tells how commands end, and which variables are read`() throws {
    let codes = try help("help", "exit-codes")
    for code in ExitCode.allCases { #expect(codes.contains { $0.hasPrefix("  \(code.rawValue) ") }) }
    let variables = try help("help", "environment")
    for name in ["BELFRY_URL", "BELFRY_TOKEN", "BELFRY_SECRET_FILE", "NO_COLOR", "COLUMNS", "TZ"] {
      #expect(variables.contains { $0.hasPrefix("  \(name) ") }, "\(name)")
    }
    #expect(variables.allSatisfy { $0.count <= 80 })
    #expect(throws: UsageError("there is no help on exit-code", suggestion: "help exit-codes")) {
      try table.find(["help", "exit-code"])
    }
  }

  private func help(_ words: [String]) throws -> [String] {
    guard case .help(let lines) = try table.find(words) else { return [] }
    return lines
  }

  @Test(
    arguments: CommandTable.belfry.commands.flatMap { command in
      command.examples.map { (command.name, $0.words) }
    })
  func `each example is right usage of its command`(name: String, example: String) throws {
    guard case .command(let command, let rest) = try table.find(shellWords(example)) else {
      Issue.record("\(example) is no command")
      return
    }
    #expect(command.name == name)
    _ = try ArgumentParser.parse(rest, for: command)
  }

  /// Splits words as a shell does, with quotes of either kind around a whole word.
  private func shellWords(_ text: String) -> [String] {
    let quote: Character = text.contains("'") ? "'" : "\""
    return text.split(separator: quote, omittingEmptySubsequences: false).enumerated().flatMap {
      index, part in
      index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
    }
  }

  @Test func `each example of a row asks for what a broker reads`() throws {
    for route in Routes.all {
      guard let name = route.command, table.commands.contains(where: { $0.name == name }) else { continue }
      let request = RouteRequest(route)
      for example in request.examples(of: name) {
        guard case .command(let command, let rest) = try table.find(shellWords(example.words)) else {
          Issue.record("\(example.words) is no command")
          continue
        }
        let arguments = try ArgumentParser.parse(rest, for: command)
        let isShort = arguments.operands.count < route.pathProperties.count
        #expect(
          !isShort || request.answersRequest || request.accountMayBeLeftOut, "\(example.words)")
        let parts = try request.parts(arguments, last: isShort ? "bob" : nil)
        for case .some(.object(let body)) in parts.bodies { check(body, route, example.words) }
      }
    }
  }

  private func check(_ body: JSONObject, _ route: Route, _ example: String) {
    let shape = route.body.shape
    for property in shape?.properties ?? [] {
      if property.isNeeded { #expect(body[property.name] != nil, "\(example): \(property.name)") }
      if case .string(let text)? = body[property.name], ["url", "endpoint"].contains(property.name) {
        #expect(text.hasPrefix("https://"), "\(example)")
      }
    }
    switch shape?.rule ?? .none {
    case .none: break
    case .oneOf(let names): #expect(names.count { body[$0] != nil } == 1, "\(example)")
    case .someOf(let names): #expect(names.contains { body[$0] != nil }, "\(example)")
    }
  }

  @Test func `the help on a number of seconds or milliseconds is about what the option takes`() throws {
    for command in table.commands {
      for option in command.options where option.form.hasSuffix("TIME") && command.name != "token" {
        #expect(!option.meaning.contains("in seconds"), "\(command.name) \(option.form)")
        // The examples are lengths that it takes.
        let examples = command.name == "unread" ? "such as 30s; at most 1m" : "90m, 24h or 7d"
        #expect(option.meaning.contains(examples), "\(command.name) \(option.form)")
      }
    }
    let replay = try #require(table.commands.first { $0.name == "webhook replay" })
    #expect(replay.options[0].form == "--from ID|TIME")
    #expect(replay.options[0].meaning.hasPrefix("a notification's id or a time (\"2026-"))
  }

  @Test(arguments: [
    ("server invite", "a message to the person who decides"),
    ("server apply", "a message to the person who decides"),
    ("server decline", "a message to the account that asked"),
    ("server refuse", "a message to the account that asked"),
    ("channel decline", "a message to the account that asked"),
    ("server accept", "only the notification of a decline or a refusal has a message"),
    ("server approve", "only the notification of a decline or a refusal has a message"),
    ("channel accept", "only the notification of a decline or a refusal has a message"),
  ])
  func `the help tells who reads a postscript`(name: String, readers: String) throws {
    let command = try #require(table.commands.first { $0.name == name })
    let option = try #require(command.options.first { $0.name == "postscript" })
    #expect(option.meaning.hasSuffix(readers))
  }

  @Test func `only commands that act for an account have --as`() throws {
    let withoutAccount = table.commands.filter { command in
      command.options.contains { $0.name == "url" } && !command.options.contains { $0.name == "as" }
    }
    for name in ["stats", "cluster", "audit", "explain", "key create", "key revoke", "webhook list"] {
      #expect(withoutAccount.contains { $0.name == name }, "\(name)")
    }
    #expect(withoutAccount.allSatisfy { $0.group == nil || ["key", "webhook"].contains($0.group) })
    #expect(withoutAccount.allSatisfy { command in !command.options.contains { $0.name == "device" } })
  }

  @Test func `the same act has the same verb everywhere, and other names work`() throws {
    func command(_ name: String) throws -> String? {
      guard case .command(let command, _) = try table.find(name.split(separator: " ").map(String.init)) else {
        return nil
      }
      return command.name
    }
    let verbs: [([String], [String])] = [
      (["create", "list", "show", "delete"], ["server", "channel", "group", "room"]),
      (["members", "remove-member", "leave"], ["server", "channel", "group", "room"]),
      (["accept", "decline", "invite", "mute", "unmute"], ["server", "channel", "group"]),
      (
        ["apply", "approve", "refuse", "ban", "unban", "unban-many", "bans", "hand-over"],
        ["server", "group"]
      ),
      (["add-admin", "remove-admin", "applications", "invitations", "mine"], ["server", "group"]),
    ]
    for (words, groups) in verbs {
      for group in groups {
        for word in words { #expect(try command("\(group) \(word)") != nil) }
      }
    }
    for (old, new) in [
      ("group destroy", "group delete"), ("room close", "room delete"), ("server reject", "server decline"),
      ("server admit", "server approve"), ("server turn-down", "server refuse"), ("group block", "group ban"),
      ("group unblock", "group unban"), ("group unblock-many", "group unban-many"),
      ("group blocked", "group bans"), ("group assign-owner", "group hand-over"),
      ("group remove", "group remove-member"), ("channel exit", "channel remove-member"),
      ("room attendees", "room members"),
      ("server members", "member list"), ("server remove-member", "member remove"),
      ("server mine", "server list"),
    ] {
      #expect(try command(old) == new)
      #expect(
        try help(["help"] + old.split(separator: " ").map(String.init)).first?.hasPrefix("belfry \(new): ")
          == true)
    }
  }

  @Test func `names are unique, and so are a command's options`() {
    let names = table.commands.flatMap { [$0.name] + $0.otherNames }
    #expect(Set(names).count == names.count)
    for command in table.commands {
      #expect(Set(command.options.map(\.name)).count == command.options.count, "\(command.name)")
      if let group = command.group { #expect(table.groups[group] != nil) }
    }
  }

  @Test func `a wrong command is named with the nearest one`() {
    #expect(throws: UsageError("there is no command sned", suggestion: "send")) { try table.find(["sned"]) }
    #expect(throws: UsageError("there is no command server crate", suggestion: "server create")) {
      try table.find(["server", "crate"])
    }
    #expect(throws: UsageError("there is no command create", suggestion: "server create")) {
      try table.find(["create", "server"])
    }
    #expect(
      throws: UsageError(
        "there is no command ban", suggestion: "account block or server ban or channel block or group ban")
    ) {
      try table.find(["ban"])
    }
    #expect(throws: UsageError("there is no command server 12", suggestion: "server show 12")) {
      try table.find(["server", "12"])
    }
    #expect(throws: UsageError("there is no command frobnicate")) { try table.find(["frobnicate"]) }
    #expect(throws: UsageError("the command comes first, then --json")) {
      try table.find(["--json", "send"])
    }
    #expect(throws: UsageError("the command comes first, then --verson", suggestion: "--version")) {
      try table.find(["--verson"])
    }
  }
}
