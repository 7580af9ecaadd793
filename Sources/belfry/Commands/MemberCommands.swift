import BelfryClient
import BelfryModel
import Foundation

extension Command {
  static let memberList = Command(
    name: "member list", summary: "list a server's members",
    options: [serverOption, .listingLimit] + CommandOption.connection,
    examples: [Example("member list --server 12 --limit 1000 --json", "up to a thousand, for a program")],
    run: { invocation in
      let client = try invocation.client()
      let server = try invocation.arguments.neededEntity("server")
      try await invocation.printListing(
        Listing<Member>(limit: try invocation.arguments.listingLimit, pageLimit: 1_000),
        header: ["ACCID", "ROLE", "SUBSCRIBED"], empty: "no members",
        page: { try await client.members(of: server, limit: $0, cursor: $1) },
        cells: cells)
    })

  static let memberShow = Command(
    name: "member show", summary: "show a member of a server", operands: [accountOperand],
    options: [serverOption] + CommandOption.connection,
    examples: [Example("member show bob --server 12", "bob's role, and whether he is subscribed")],
    run: { invocation in
      let account = try invocation.arguments.accountOperand(0, "ACCID")
      let member = try await invocation.client().member(
        account, of: try invocation.arguments.neededEntity("server"))
      var table = TextTable(["ACCID", "ROLE", "SUBSCRIBED"])
      table.add(cells(member))
      try invocation.print(member, table.lines)
    })

  static let memberAdd = Command(
    name: "member add", summary: "add accounts to a server, without asking them",
    detail: "With an app or operator token. Who is a member already stays as they are.",
    operands: [Operand(name: "ACCID", meaning: "the accounts", isRequired: false, repeats: true)],
    options: [
      serverOption, .value("file", "FILE", "read accids from a file, one a line; - for standard input"),
    ] + CommandOption.connection,
    examples: [
      Example("member add bob carol --server 12", "two of them"),
      Example("member add --server 12 --file accids.txt", "many, a thousand at a time"),
    ],
    run: { invocation in
      let arguments = invocation.arguments
      let server = try arguments.neededEntity("server")
      var accounts = try arguments.accountOperands("ACCID")
      if let path = arguments.text("file") { accounts += try Arguments.accounts(lines(of: path), path) }
      guard !accounts.isEmpty else { throw UsageError("ACCID or --file is needed: whom?") }
      let client = try invocation.client()
      var added: [AccountID] = []
      for start in stride(from: 0, to: accounts.count, by: accountsPerCall) {
        let call = Array(accounts[start..<min(start + accountsPerCall, accounts.count)])
        added += try await client.addMembers(call, to: server)
      }
      try invocation.print(["added": added], ["\(added.count) added to server \(server)"])
    })

  static let memberRemove = Command(
    name: "member remove", summary: "kick a member, or leave", operands: [accountOperand],
    options: [serverOption] + CommandOption.connection,
    examples: [
      Example("member remove bob --server 12", "the owner and admins kick"),
      Example("member remove bob --server 12 --as bob", "bob leaves"),
    ],
    run: { invocation in
      let account = try invocation.arguments.accountOperand(0, "ACCID")
      let server = try invocation.arguments.neededEntity("server")
      try await invocation.client().removeMember(account, from: server)
      try invocation.print(
        ["accid": .string(account.text), "removed": true] as JSONValue,
        ["\(account) removed from server \(server)"])
    })

  /// The most the broker takes at a time.
  private static let accountsPerCall = 1_000
  private static let serverOption = CommandOption.value("server", "ID", "the server").required
  private static let accountOperand = Operand(name: "ACCID", meaning: "the account")

  private static func cells(_ member: Member) -> [String] {
    [member.accid.text, member.role.rawValue, member.subscribed ? "yes" : "no"]
  }

  private static func lines(of path: String) throws(CommandFailure) -> [String] {
    do {
      let file = try path == "-" ? .standardInput : FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      return text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        .filter { !$0.isEmpty }
    } catch {
      throw CommandFailure(
        code: "unreadable", detail: "\(path) cannot be read: \(error.localizedDescription)")
    }
  }
}
