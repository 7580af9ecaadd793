import BelfryClient
import BelfryInterface
import BelfryModel
import Foundation

extension Command {
  static let unread = Command(
    name: "unread", summary: "list what is unread",
    options: [
      .value("limit", "N", "at most N, oldest first; \(ListingLimit.standard) by default"),
      .value("after", "CURSOR", "only notifications after this cursor"),
      .value("wait", "TIME", "if nothing is unread, wait this long, such as 30s; at most 1m"),
    ] + CommandOption.connection,
    examples: [
      Example("unread", "notifications that the token's account has not read"),
      Example(
        "unread --as bob --wait 30s --json", "the same for bob; if nothing is unread, wait up to 30 s"),
    ],
    run: { invocation in
      let client = try invocation.client()
      let wait = try invocation.arguments.seconds("wait", in: 0...NotificationRoutes.waitMaxSeconds)
      let listing = Listing<BelfryModel.Notification>(
        limit: try invocation.arguments.listingLimit, pageLimit: 500,
        cursor: invocation.arguments.text("after"))
      var names = SpaceNames(of: invocation.actingAccount)
      var requests: [[String]] = []
      let zone = invocation.console.timeZone
      try await invocation.printListing(
        listing, header: NotificationText.header, narrowing: .breaking,
        empty: "nothing is unread",
        page: { limit, cursor in
          // Only the first page waits: after it there is something to print already.
          let isFirst = cursor == listing.cursor
          let page = try await client.unread(
            limit: limit, after: cursor, waitSeconds: isFirst ? wait : nil)
          if let gap = page.gap {
            invocation.console.complain(
              "belfry: notifications between \(gap.from) and \(gap.to) may be missing")
          }
          // The cursor of a feed has no end: a page that is not full was the last.
          return Page(items: page.notifications, cursor: page.notifications.count < limit ? nil : page.cursor)
        },
        prepare: { shown in
          for notification in shown { names.learn(from: notification.content) }
          await names.complete(for: shown.map(\.content), by: client)
          let pending = await PendingRequests(
            among: shown.map(\.content), of: invocation.actingAccount, by: client)
          requests = shown.filter { pending.mayInclude($0.content) }.compactMap { notification in
            NotificationText.accepting(notification.content, as: invocation.arguments.text("as"))
              .map { [notification.messageServerId.text, $0] }
          }
        },
        rest: { "--limit N shows up to N, and --after \(ShellWord.quoted($0)) continues after these" },
        cells: { NotificationText.cells($0, names, in: zone) })
      // Not in the table, where a terminal would cut them.
      if !requests.isEmpty {
        let declining = NotificationText.declining(requests.compactMap(\.last))
        invocation.console.print(["", "To accept:"] + TextTable.aligned(requests) + [declining])
      }
    })
}

extension SpaceNames {
  /// More places than a table shows at a glance are not worth a request each.
  private static let requestsMax = 20

  /// Asks the broker for the names that no notification has told. A place that the broker does not show stays without one.
  fileprivate mutating func complete(for contents: [NotificationContent], by client: BelfryClient) async {
    for place in unnamed(in: contents).prefix(Self.requestsMax) {
      for route in place.routes {
        guard case .object(let info)? = try? await client.perform(route, place.path) else { continue }
        learn(place, from: info)
        break
      }
    }
  }
}

extension SpacePlace {
  /// The routes that show the place; none for a channel of an unknown server. Somebody whom a server did not let in sees only
  /// its preview.
  fileprivate var routes: [Route] {
    switch kind {
    case "server": [ServerRoutes.show.route, ServerRoutes.preview.route]
    case "channel": server == nil ? [] : [ChannelRoutes.show.route]
    case "group": [GroupRoutes.show.route]
    default: [RoomRoutes.show.route]
    }
  }

  fileprivate var path: [String] { (kind == "channel" ? [server?.text] : []).compactMap(\.self) + [id.text] }
}

/// The invitations and applications that were not answered. Their notifications stay unread after that, until they are marked,
/// and a command that can only be refused would mislead.
private struct PendingRequests {
  /// Nil if the broker did not list all of them.
  private var invitations: Set<EntityID>?
  /// Each under its place. A place that was not asked for, or that the broker does not show to the account, has none.
  private var applications: [String: Set<EntityID>] = [:]
  /// The rooms in which the account is a listener, and can go on stage.
  private var stages: Set<EntityID> = []
  private let nowMilliseconds = Int64(Date().timeIntervalSince1970 * 1_000)

  /// More places are not worth a request each.
  private static let placesMax = 5

  /// Asks the broker about the requests among the contents.
  ///
  /// - Parameter account: the account that reads them; nil if the command line does not know it.
  init(among contents: [NotificationContent], of account: String?, by client: BelfryClient) async {
    if contents.contains(where: { NotificationText.invitation(in: $0) != nil }) {
      let page = await Self.rows("requests", of: AccountRoutes.invitations.route, by: client)
      if let page, page.isAll {
        invitations = Set(page.rows.compactMap { NotificationText.requestID(of: $0) })
      }
    }
    for application in contents.compactMap({ NotificationText.application(in: $0) }) {
      let place = Self.place(application)
      guard applications[place] == nil, applications.count < Self.placesMax else { continue }
      let page = await Self.rows("requests", of: application.listedBy, [application.at.text], by: client)
      applications[place] = Set((page?.rows ?? []).compactMap { NotificationText.requestID(of: $0) })
    }
    let invited = contents.compactMap { NotificationText.stageInvitation(in: $0) }
    let rooms = Set(invited.filter { $0.expiresAt > nowMilliseconds }.map(\.room))
    for room in rooms.prefix(Self.placesMax) {
      let page = await Self.rows("attendees", of: RoomRoutes.attendees.route, [room.text], by: client)
      guard let page else { continue }
      let isOnStage = page.rows.contains { row in
        guard case .object(let attendee) = row else { return false }
        return attendee["accid"] == account.map { .string($0) } && attendee["role"] != "listener"
      }
      if !isOnStage { stages.insert(room) }
    }
  }

  /// The rows of a list's first page, and if these are all. Nil if the broker refuses.
  private static func rows(
    _ name: String, of route: Route, _ path: [String] = [], by client: BelfryClient
  ) async -> (rows: [JSONValue], isAll: Bool)? {
    let query = [(name: SharedFields.limit.property.name, value: "\(Limits.pageMembersMaximum)")]
    guard case .object(let page)? = try? await client.perform(route, path, query: query),
      case .array(let rows)? = page[name]
    else { return nil }
    if case .string? = page["cursor"] { return (rows, false) }
    return (rows, true)
  }

  private static func place(_ application: (request: EntityID, listedBy: Route, at: EntityID)) -> String {
    "\(application.listedBy.name) \(application.at)"
  }

  /// False for a request that was answered or has expired.
  func mayInclude(_ content: NotificationContent) -> Bool {
    if let application = NotificationText.application(in: content) {
      return applications[Self.place(application)]?.contains(application.request) ?? false
    }
    if let stage = NotificationText.stageInvitation(in: content) { return stages.contains(stage.room) }
    guard let invitations, let request = NotificationText.invitation(in: content) else { return true }
    return invitations.contains(request)
  }
}
