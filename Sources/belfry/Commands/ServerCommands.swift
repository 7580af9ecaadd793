import BelfryClient
import BelfryModel
import FoundationEssentials

extension Command {
  static let serverCreate = Command(
    name: "server create", summary: "create a server",
    detail: "The account owns it, and a default channel comes with it.",
    options: [nameOption.required] + settings + CommandOption.connection,
    examples: [
      Example("server create --name \"Bell ringers\"", "with the defaults"),
      Example(
        "server create --name Guild --as alice --apply-mode needsApproval", "alice's, with an app token"),
    ],
    run: { invocation in
      let server = try await invocation.client().createServer(invocation.arguments.settings)
      try invocation.print(server, ["server \(server.serverId)  \(VisibleText.of(server.name))  created"])
    })

  static let serverList = Command(
    name: "server list", summary: "list the account's servers",
    options: [.listingLimit] + CommandOption.connection,
    examples: [Example("server list --as bob", "those bob is in, with an app or operator token")],
    run: { invocation in
      let client = try invocation.client()
      let zone = invocation.console.timeZone
      try await invocation.printListing(
        Listing<Server>(limit: try invocation.arguments.listingLimit, pageLimit: 1_000),
        header: ["ID", "NAME", "OWNER", "MEMBERS", "CREATED"], empty: "in no server",
        page: { try await client.servers(limit: $0, cursor: $1) },
        cells: { server in
          [
            server.serverId.text, server.name, server.owner.text, members(of: server),
            TimeText.of(unixMilliseconds: server.createTime, in: zone),
          ]
        })
    })

  static let serverShow = Command(
    name: "server show", summary: "show a server", operands: [serverOperand],
    options: CommandOption.connection, examples: [Example("server show 12", "what there is to know of it")],
    run: { invocation in
      let server = try await invocation.client().server(try invocation.arguments.entityOperand(0, "SERVER"))
      try invocation.print(server, describe(server, in: invocation.console.timeZone))
    })

  static let serverUpdate = Command(
    name: "server update", summary: "change a server's settings",
    detail: "What is not named stays as it is; an empty icon or ext is none.",
    operands: [serverOperand],
    options: [nameOption] + settings + CommandOption.connection,
    examples: [Example("server update 12 --name \"Change ringers\"", "rename it")],
    run: { invocation in
      let arguments = invocation.arguments
      let server = try await invocation.client().updateServer(
        try arguments.entityOperand(0, "SERVER"), arguments.settings)
      try invocation.print(server, describe(server, in: invocation.console.timeZone))
    })

  static let serverRemove = Command(
    name: "server remove", summary: "remove a server for good",
    detail: "What was sent in it stays readable for its members until retention.",
    operands: [serverOperand], options: CommandOption.connection,
    examples: [Example("server remove 12", "its owner may")],
    run: { invocation in
      let id = try invocation.arguments.entityOperand(0, "SERVER")
      try await invocation.client().removeServer(id)
      try invocation.print(
        ["serverId": .string(id.text), "removed": true] as JSONValue, ["server \(id)  removed"])
    })

  private static let serverOperand = Operand(name: "SERVER", meaning: "its id")

  private static let nameOption = CommandOption.value("name", "TEXT", "what people call it")

  private static let settings: [CommandOption] = [
    .value("icon", "TEXT", "its icon"),
    .value("ext", "TEXT", "beside the name; JSON by custom"),
    .choice("invite-mode", Array(InviteMode.words.keys.sorted()), "what becomes of an invitation"),
    .choice("apply-mode", Array(ApplyMode.words.keys.sorted()), "what becomes of an application"),
  ]

  private static func members(of server: Server) -> String { server.memberCount.map(String.init) ?? "-" }

  private static func describe(_ server: Server, in zone: TimeZone) -> [String] {
    TextTable.aligned(
      [
        ["server", server.serverId.text], ["name", server.name], ["owner", server.owner.text],
        ["members", members(of: server)],
        ["created", TimeText.of(unixMilliseconds: server.createTime, in: zone)],
        ["invite mode", "\(server.inviteMode)"], ["apply mode", "\(server.applyMode)"],
        ["default channel", server.defaultChannelId.text], ["icon", server.icon ?? "-"],
        ["ext", server.ext ?? "-"],
      ].map { $0.map(VisibleText.of) })
  }
}

extension Arguments {
  fileprivate var settings: ServerSettings {
    ServerSettings(
      name: text("name"), icon: text("icon"), ext: text("ext"),
      inviteMode: text("invite-mode").flatMap { InviteMode.words[$0] },
      applyMode: text("apply-mode").flatMap { ApplyMode.words[$0] })
  }
}

extension InviteMode {
  fileprivate static let words = Dictionary(uniqueKeysWithValues: allCases.map { ("\($0)", $0) })
}

extension ApplyMode {
  fileprivate static let words = Dictionary(uniqueKeysWithValues: allCases.map { ("\($0)", $0) })
}
