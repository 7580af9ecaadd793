import BelfryClient
import BelfryInterface
import BelfryModel

extension Command {
  static let unread = Command(
    name: "unread", summary: "list what is unread",
    options: [
      .value("limit", "N", "at most N, oldest first; \(ListingLimit.standard) by default"),
      .value("after", "CURSOR", "only notifications after this cursor"),
      .value("wait", "TIME", "if nothing is unread, wait this long: \(DurationText.inputRule)"),
    ] + CommandOption.connection,
    examples: [
      Example("unread", "what the token's account has not read"),
      Example(
        "unread --as bob --wait 30s --json", "what bob has not read; if nothing, what comes within 30 s"),
    ],
    run: { invocation in
      let client = try invocation.client()
      let wait = try invocation.arguments.seconds("wait", in: 0...NotificationRoutes.waitMaxSeconds)
      let listing = Listing<BelfryModel.Notification>(
        limit: try invocation.arguments.listingLimit, pageLimit: 500,
        cursor: invocation.arguments.text("after"))
      var names = SpaceNames()
      var requests: [[String]] = []
      let zone = invocation.console.timeZone
      try await invocation.printListing(
        listing, header: NotificationText.header, narrowing: .breaking(dispensable: ["TYPE"]),
        empty: "nothing is unread",
        page: { limit, cursor in
          // Only the first page waits: after it there is something to print already.
          let isFirst = cursor == listing.cursor
          let page = try await client.unread(
            limit: limit, after: cursor, waitSeconds: isFirst ? wait : nil)
          if let gap = page.gap {
            invocation.console.complain(
              "belfry: notifications between \(gap.from) and \(gap.to) were removed")
          }
          // The cursor of a feed has no end: a page that is not full was the last.
          return Page(items: page.notifications, cursor: page.notifications.count < limit ? nil : page.cursor)
        },
        prepare: { shown in
          for notification in shown { names.learn(from: notification.content) }
          await names.complete(for: shown.map(\.content), by: client)
          let pending = await PendingInvitations(among: shown.map(\.content), by: client)
          requests = shown.filter { pending.mayInclude($0.content) }.compactMap { notification in
            NotificationText.accepting(notification.content, as: invocation.arguments.text("as"))
              .map { [notification.messageServerId.text, $0] }
          }
        },
        cells: { NotificationText.cells($0, names, in: zone) })
      // Not in the table, where a terminal would cut them.
      if !requests.isEmpty { invocation.console.print(["", "To accept:"] + TextTable.aligned(requests)) }
    })
}

extension SpaceNames {
  /// More places than a table shows at a glance are not worth a request each.
  private static let requestsMax = 20

  /// Asks the broker for the names that no notification has told. A place that the broker does not show stays without one.
  fileprivate mutating func complete(for contents: [NotificationContent], by client: BelfryClient) async {
    for place in unnamed(in: contents).prefix(Self.requestsMax) {
      guard let route = place.route,
        case .object(let info)? = try? await client.perform(route.route, route.path)
      else { continue }
      learn(place, from: info)
    }
  }
}

extension SpacePlace {
  /// The route that shows the place; nil for a channel of an unknown server.
  fileprivate var route: (route: Route, path: [String])? {
    switch kind {
    case "server": (ServerRoutes.show.route, [id.text])
    case "channel": server.map { (ChannelRoutes.show.route, [$0.text, id.text]) }
    case "group": (GroupRoutes.show.route, [id.text])
    default: (RoomRoutes.show.route, [id.text])
    }
  }
}

/// The invitations that the account has not answered. An invitation stays unread after it was answered, until it is marked,
/// and a command that can only be refused would mislead.
private struct PendingInvitations {
  /// Nil if the broker did not list all of them.
  private var requests: Set<EntityID>?

  /// Asks the broker, if there is an invitation among the contents.
  init(among contents: [NotificationContent], by client: BelfryClient) async {
    guard contents.contains(where: { NotificationText.invitation(in: $0) != nil }) else { return }
    let query = [(name: SharedFields.limit.property.name, value: "\(Limits.pageMembersMaximum)")]
    guard case .object(let page)? = try? await client.perform(AccountRoutes.invitations.route, query: query),
      case .array(let rows)? = page["requests"]
    else { return }
    if case .string? = page["cursor"] { return }
    requests = Set(rows.compactMap { NotificationText.requestID(of: $0) })
  }

  /// False for an invitation that was answered or has expired.
  func mayInclude(_ content: NotificationContent) -> Bool {
    guard let requests, let request = NotificationText.invitation(in: content) else { return true }
    return requests.contains(request)
  }
}
