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
    for line in lines where !line.hasPrefix("  belfry") { #expect(line.count <= 80, "\(line)") }
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

  /// As a shell splits them, with double quotes.
  private func shellWords(_ text: String) -> [String] {
    text.split(separator: "\"", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
      index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
    }
  }

  @Test func `names are unique, and so are a command's options`() {
    #expect(Set(table.commands.map(\.name)).count == table.commands.count)
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
    #expect(throws: UsageError("there is no command ban", suggestion: "server ban")) {
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
