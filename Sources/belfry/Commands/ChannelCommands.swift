import BelfryClient
import BelfryModel
import FoundationEssentials

extension Command {
  static let channelCreate = Command(
    name: "channel create", summary: "create a channel in a server",
    options: [
      serverOption, nameOption.required,
      .value("description", "TEXT", "what it is for"),
      .choice("type", ChannelType.allCases.map(\.rawValue), "public otherwise"),
      .choice(
        "membership", ChannelMembership.allCases.map(\.rawValue),
        "every member of the server, or whom a roster lists; a private channel has a roster"),
      .list("members", "ACCID", "the roster's first members"),
    ] + CommandOption.connection,
    examples: [
      Example("channel create --server 12 --name announcements", "public, everyone's"),
      Example(
        "channel create --server 12 --name committee --type private --members bob,carol", "with a roster"),
    ],
    run: { invocation in
      let arguments = invocation.arguments
      let members = try arguments.accounts("members")
      let channel = NewChannel(
        name: arguments.text("name") ?? "", description: arguments.text("description"),
        type: arguments.text("type").flatMap(ChannelType.init) ?? .public,
        membership: arguments.text("membership").flatMap(ChannelMembership.init),
        members: members.isEmpty ? nil : members)
      let server = try arguments.neededEntity("server")
      let created = try await invocation.client().createChannel(channel, in: server)
      try invocation.print(
        created, ["channel \(created.channelId)  \(VisibleText.of(created.name))  created"])
    })

  static let channelList = Command(
    name: "channel list", summary: "list a server's channels",
    options: [serverOption, .listingLimit] + CommandOption.connection,
    examples: [Example("channel list --server 12", "those the account can see")],
    run: { invocation in
      let client = try invocation.client()
      let server = try invocation.arguments.neededEntity("server")
      try await invocation.printListing(
        Listing<Channel>(limit: try invocation.arguments.listingLimit, pageLimit: 1_000),
        header: ["ID", "NAME", "TYPE", "MEMBERSHIP", "DESCRIPTION"], empty: "no channels to be seen",
        page: { try await client.channels(of: server, limit: $0, cursor: $1) },
        cells: { channel in
          [
            channel.channelId.text, channel.name, channel.type.rawValue, channel.membership.rawValue,
            channel.description ?? "",
          ]
        })
    })

  static let channelShow = Command(
    name: "channel show", summary: "show a channel", operands: [channelOperand],
    options: [serverOption] + CommandOption.connection,
    examples: [Example("channel show 34 --server 12", "what there is to know of it")],
    run: { invocation in
      let id = try invocation.arguments.entityOperand(0, "CHANNEL")
      let server = try invocation.arguments.neededEntity("server")
      let channel = try await invocation.client().channel(id, of: server)
      try invocation.print(channel, describe(channel, in: invocation.console.timeZone))
    })

  static let channelUpdate = Command(
    name: "channel update", summary: "rename or describe a channel", operands: [channelOperand],
    options: [
      serverOption, nameOption,
      .value("description", "TEXT", "what it is for; empty for none"),
    ] + CommandOption.connection,
    examples: [Example("channel update 34 --server 12 --name news", "rename it")],
    run: { invocation in
      let arguments = invocation.arguments
      let channel = try await invocation.client().updateChannel(
        try arguments.entityOperand(0, "CHANNEL"), of: try arguments.neededEntity("server"),
        name: arguments.text("name"), description: arguments.text("description"))
      try invocation.print(channel, describe(channel, in: invocation.console.timeZone))
    })

  static let channelRemove = Command(
    name: "channel remove", summary: "remove a channel for good", operands: [channelOperand],
    options: [serverOption] + CommandOption.connection,
    examples: [Example("channel remove 34 --server 12", "the server's owner may")],
    run: { invocation in
      let id = try invocation.arguments.entityOperand(0, "CHANNEL")
      try await invocation.client().removeChannel(id, of: try invocation.arguments.neededEntity("server"))
      try invocation.print(
        ["channelId": .string(id.text), "removed": true] as JSONValue, ["channel \(id)  removed"])
    })

  private static let serverOption = CommandOption.value("server", "ID", "the server it is in").required
  private static let nameOption = CommandOption.value("name", "TEXT", "what people call it")
  private static let channelOperand = Operand(name: "CHANNEL", meaning: "its id")

  private static func describe(_ channel: Channel, in zone: TimeZone) -> [String] {
    TextTable.aligned(
      [
        ["channel", channel.channelId.text], ["server", channel.serverId.text], ["name", channel.name],
        ["type", channel.type.rawValue], ["membership", channel.membership.rawValue],
        ["created", TimeText.of(unixMilliseconds: channel.createTime, in: zone)],
        ["description", channel.description ?? "-"],
      ].map { $0.map(VisibleText.of) })
  }
}
