import BelfryClient
import BelfryModel
import BelfryInterface

// A command for every route that has none of its own, made from the route's row: what can be asked over HTTP
// can be asked on the command line, under the same names, and nothing is described twice.
//
// What stands last in the path is the operand (`group show GROUP`), and so are the accounts of a body
// (`group mute --group 12 bob carol`); whatever else is in the path, the query or the body is an option.

extension Command {
  /// The commands of all routes but those that `others` have a command for.
  static func made(from routes: [Route], beside others: [Command]) -> [Command] {
    let taken = Set(others.map(\.name))
    return routes.filter { $0.command != nil && !taken.contains($0.name) }.map(Command.init(route:))
  }

  private init(route: Route) {
    let request = RouteRequest(route)
    self.init(
      name: route.name, summary: route.summary.loweringFirst, operands: request.operands,
      options: request.options + (route.listedItems == nil ? [] : [.listingLimit]) + CommandOption.connection,
      examples: [Example(request.example, route.summary.loweringFirst)],
      run: { invocation in try await Self.run(request, invocation) })
  }

  private static func run(_ request: RouteRequest, _ invocation: Invocation) async throws {
    let route = request.route
    let (path, query, body) = try request.parts(invocation.arguments)
    let client = try invocation.client()
    if let items = route.listedItems {
      return try await list(items, invocation) { limit, cursor in
        let page = query + [("limit", "\(limit)")] + (cursor.map { [("cursor", $0)] } ?? [])
        return try await client.perform(route.verb.rawValue, path, query: page, body: body)
      }
    }
    let answer = try await client.perform(route.verb.rawValue, path, query: query, body: body)
    guard case .object(let facts)? = answer else {
      return try invocation.print(["done": true] as JSONValue, ["done: \(route.summary.loweringFirst)"])
    }
    try invocation.print(
      answer, TextTable.aligned(FactText.rows(facts, in: invocation.console.timeZone)))
  }

  private static func list(
    _ items: (name: String, columns: [String]), _ invocation: Invocation,
    _ ask: (_ limit: Int, _ cursor: String?) async throws -> JSONValue?
  ) async throws {
    try await invocation.printListing(
      Listing<JSONValue>(limit: try invocation.arguments.listingLimit, pageLimit: Limits.pageMembersMaximum),
      header: items.columns.map { $0.uppercased() }, empty: "none",
      page: { limit, cursor in
        guard case .object(let page)? = try await ask(limit, cursor),
          case .array(let rows)? = page[items.name]
        else { return Page(items: [], cursor: nil) }
        if case .string(let next)? = page["cursor"] { return Page(items: rows, cursor: next) }
        return Page(items: rows, cursor: nil)
      },
      cells: { row in items.columns.map { FactText.cell($0, of: row, in: invocation.console.timeZone) } })
  }
}

extension Route {
  /// What a paged list answers with: the field with the items, and which of theirs fit a table.
  fileprivate var listedItems: (name: String, columns: [String])? {
    guard case .json(let shape)? = outcomes.first?.content, case .object(let page) = shape.bare,
      page.properties.contains(where: { $0.name == "cursor" }),
      let list = page.properties.first(where: { if case .list = $0.shape { true } else { false } }),
      case .list(let element, _) = list.shape
    else { return nil }
    guard case .object(let item) = element.bare else { return (list.name, ["accid"]) }
    return (list.name, item.properties.filter { $0.shape.fitsCell }.prefix(6).map(\.name))
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
}

extension String {
  /// A sentence's beginning within another one.
  var loweringFirst: String { prefix(1).lowercased() + dropFirst() }
}
