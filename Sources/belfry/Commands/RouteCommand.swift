import BelfryClient
import BelfryInterface
import BelfryModel

// Makes a command from each row of the interface that offers one. So every request over HTTP can also be made
// on the command line, under the same names, and nothing is described twice.

extension Command {
  static func made(from routes: [Route]) -> [Command] {
    routes.flatMap { route in
      let own = route.options.ownCommand.map { Command(name: $0.name, request: RouteRequest(route, own: $0)) }
      return [route.command.map { Command(name: $0, request: RouteRequest(route)) }, own].compactMap(\.self)
    }
  }

  private init(name: String, request: RouteRequest) {
    let route = request.route
    let listing: [CommandOption] = route.listedItems == nil ? [] : [.listingLimit]
    let asking: [CommandOption] = request.question == nil ? [] : [.yes]
    let connection = route.actsForAccount ? CommandOption.connection : CommandOption.brokerConnection
    self.init(
      name: name, otherNames: request.otherNames, summary: request.summary.loweringFirst,
      detail: route.access.sentence, operands: request.operands,
      options: request.options + listing + asking + connection, changesSomething: route.verb != .get,
      examples: request.examples(of: name),
      run: { invocation in try await RouteRun(request: request, invocation: invocation).run() })
  }
}

/// One run of a command that was made from a row.
private struct RouteRun {
  let request: RouteRequest
  let invocation: Invocation

  private var route: Route { request.route }

  func run() async throws {
    let parts = try request.parts(
      invocation.arguments, last: try await request.wordLeftOut(by: invocation))
    let client = try invocation.client()
    var names: [String: String] = [:]
    if let question = request.question {
      // An id alone does not show that it is the wrong one.
      if invocation.willAsk { names = await request.namesOfPlaces(parts, by: client) }
      try invocation.confirm("\(parts.sentence(question, names))?")
    }
    if let items = route.listedItems {
      return try await list(items) { limit, cursor in
        let page = parts.query + [("limit", "\(limit)")] + (cursor.map { [("cursor", $0)] } ?? [])
        return try await client.perform(route, parts.path, query: page)
      }
    }
    let answer = try await perform(parts, by: client)
    try show(answer, parts, names)
    if let failure = answer?.failedDelivery { throw failure }
  }

  /// Sends the request. If there are more accounts than the broker takes at a time, it is sent in several
  /// parts.
  private func perform(_ parts: RouteRequest.Parts, by client: BelfryClient) async throws -> JSONValue? {
    let progress = ProgressLine(on: invocation.console)
    defer { progress.end() }
    var answer: JSONValue?
    for (index, body) in parts.bodies.enumerated() {
      let done = parts.accountsSent(before: index)
      if index > 0 { progress.show("\(done) of \(parts.accountCount) accounts") }
      do {
        let next = try await client.perform(route, parts.path, query: parts.query, body: body)
        answer = answer.map { $0.joined(with: next) } ?? next
      } catch {
        progress.end()
        if index > 0 {
          let rest = error.leavesOutcomeOpen ? "It is not known if more are" : "The rest are not"
          invocation.console.complain("belfry: the first \(done) accounts are done. \(rest):")
        }
        throw error
      }
    }
    return answer
  }

  /// - Parameter names: those of the places that are known, by the words of each: `server 12`.
  private func show(_ answer: JSONValue?, _ parts: RouteRequest.Parts, _ names: [String: String]) throws {
    guard let answer, case .json(let shape)? = route.outcomes.first?.content else {
      let line = parts.sentence(request.sentenceOfDone(nil, parts) ?? "done", names)
      return try invocation.print(["done": true] as JSONValue, [VisibleText.of(line)])
    }
    if !invocation.printsJSON, let done = request.sentenceOfDone(answer, parts) {
      // The path of a new thing names the space that it is in; its own id follows in the answer.
      let isNew = route.outcomes.first?.status == 201
      invocation.console.print([isNew ? done : VisibleText.of(parts.sentence(done, names))])
    }
    let text = AnswerText(timeZone: invocation.console.timeZone)
    if !invocation.printsJSON, let (table, ifEmpty) = text.table(answer, as: shape) {
      return invocation.console.print(table, empty: ifEmpty)
    }
    let columns = invocation.console.terminal.columns
    try invocation.print(answer, text.parts(answer, as: shape).lines(columnsLimit: columns))
  }

  private func list(
    _ items: (name: String, columns: [Property], element: Shape),
    _ ask: (_ limit: Int, _ cursor: String?) async throws -> JSONValue?
  ) async throws {
    let text = AnswerText(timeZone: invocation.console.timeZone)
    let header = items.columns.isEmpty ? ["ACCID"] : items.columns.map(\.heading)
    var invitations: [[String]] = []
    try await invocation.printListing(
      Listing<JSONValue>(limit: try invocation.arguments.listingLimit, pageLimit: Limits.pageMembersMaximum),
      header: header, empty: items.element.words(ifNone: items.name),
      page: { limit, cursor in
        guard case .object(let page)? = try await ask(limit, cursor),
          case .array(let rows)? = page[items.name]
        else { return Page(items: [], cursor: nil) }
        if case .string(let next)? = page["cursor"] { return Page(items: rows, cursor: next) }
        return Page(items: rows, cursor: nil)
      },
      prepare: { rows in
        invitations = rows.compactMap { row in
          NotificationText.accepting(invitation: row, as: invocation.arguments.text("as"))
            .map { [VisibleText.quoted($0.name), $0.command] }
        }
      },
      cells: { row in
        guard !items.columns.isEmpty else { return [text.cell(row, as: items.element)] }
        return items.columns.map { column in
          guard case .object(let members) = row, let value = members[column.name] else {
            return column.wordIfAbsent ?? "-"
          }
          return text.cell(value, of: column)
        }
      })
    if !invitations.isEmpty {
      let declining = NotificationText.declining(invitations.compactMap(\.last))
      invocation.console.print(["", "To accept:"] + TextTable.aligned(invitations) + [declining])
    }
  }
}

extension RouteRequest.Parts {
  /// `deleted the server: server 12 (Campfire)`.
  fileprivate func sentence(_ words: String, _ names: [String: String]) -> String {
    guard let place else { return words }
    let named = place.components(separatedBy: ", ").map { part in
      part + (names[part].map { " (\($0))" } ?? "")
    }
    return "\(words): \(named.joined(separator: ", "))"
  }
}

extension RouteRequest {
  /// Asks the broker for the names of the server, the channel, the group or the room that the path names. A place that it does
  /// not show has none.
  fileprivate func namesOfPlaces(_ parts: Parts, by client: BelfryClient) async -> [String: String] {
    var names: [String: String] = [:]
    for (index, property) in route.pathProperties.enumerated() {
      guard let shown = Self.showing[property.name],
        case .object(let info)? = try? await client.perform(shown, Array(parts.path.prefix(index + 1))),
        case .string(let name)? = info["name"] ?? info["subject"], !name.isEmpty
      else { continue }
      names["\(property.commandName) \(parts.path[index])"] = name
    }
    return names
  }

  private static let showing = [
    "serverId": ServerRoutes.show.route, "channelId": ChannelRoutes.show.route,
    "groupId": GroupRoutes.show.route, "roomId": RoomRoutes.show.route,
  ]
}

extension Route.Access {
  /// The kind of token that the route needs, if not every token is enough.
  fileprivate var sentence: String? {
    switch self {
    case .everyone, .loopbackOrToken, .tokenLater, .token: nil
    case .trusted: "It needs an app or operator token."
    case .operators: "It needs an operator token."
    }
  }
}

extension Route {
  /// False for a route about the broker and its keys, in which no account has a part.
  fileprivate var actsForAccount: Bool {
    switch access {
    case .operators: false
    case .trusted: operation != nil
    case .everyone, .loopbackOrToken, .tokenLater, .token: true
    }
  }

  /// So many columns fit most terminals.
  private static let columnsMost = 6

  /// The field of a paged list that has the items, and the properties of an item that fit a table. Nil for an
  /// operation that answers with the first page of a list, such as entering a room: it takes no `limit` and
  /// no `cursor`.
  fileprivate var listedItems: (name: String, columns: [Property], element: Shape)? {
    guard verb == .get, case .json(let shape)? = outcomes.first?.content, case .object(let page) = shape.bare,
      page.properties.contains(where: { $0.name == "cursor" }),
      let list = page.properties.first(where: { if case .list = $0.shape { true } else { false } }),
      case .list(let element, _) = list.shape
    else { return nil }
    guard case .object(let item) = element.bare else { return (list.name, [], element) }
    guard options.columns.isEmpty else {
      let columns = options.columns.compactMap { name in item.properties.first { $0.name == name } }
      return (list.name, columns, element)
    }
    // Properties that all rows have in common are left out, because the user gave them.
    let given = Set(pathProperties.map(\.name))
    var columns = item.properties.filter { $0.shape.fitsCell && !given.contains($0.name) }
    if columns.count > Self.columnsMost { columns = columns.filter { !$0.shape.isDetail } }
    return (list.name, Array(columns.prefix(Self.columnsMost)), element)
  }
}

extension Shape {
  /// Without the name it has in documents.
  var bare: Shape {
    switch self {
    case .resource(_, let shape), .orNull(let shape): shape.bare
    default: self
    }
  }

  fileprivate var fitsCell: Bool {
    switch bare {
    case .list, .object, .json, .jsonObject, .map: false
    default: true
    }
  }

  /// True for columns that are left out if not all fit.
  fileprivate var isDetail: Bool {
    switch bare {
    case .flag, .numbers: true
    default: false
    }
  }
}

extension JSONValue {
  /// Joins two answers: the first one, with the elements of the second one's lists after its own.
  fileprivate func joined(with other: JSONValue?) -> JSONValue {
    guard case .object(var members) = self, case .object(let more)? = other else { return self }
    for (name, value) in more {
      if case .array(let own)? = members[name], case .array(let others) = value {
        members[name] = .array(own + others)
      }
    }
    return .object(members)
  }
}

extension JSONValue {
  /// The failure of a test that the broker made. Nil unless the answer says that nothing was delivered.
  fileprivate var failedDelivery: CommandFailure? {
    guard case .object(let answer) = self, answer["delivered"] == false else { return nil }
    return CommandFailure(
      code: "notDelivered", detail: "the receiver did not accept the test; standard output says why")
  }
}
