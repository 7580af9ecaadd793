import BelfryClient
import BelfryModel

extension Command {
  static let unread = Command(
    name: "unread", summary: "list what is unread",
    options: [
      .value("limit", "N", "at most N, oldest first; \(ListingLimit.standard) by default"),
      .value("after", "CURSOR", "only notifications after this cursor"),
      .value("wait", "SECONDS", "if nothing is unread, wait this long"),
    ] + CommandOption.connection,
    examples: [
      Example("unread", "what the token's account has not read"),
      Example("unread --as bob --wait 30 --json", "what bob has not read, or the next that comes in 30 s"),
    ],
    run: { invocation in
      let client = try invocation.client()
      let wait = try invocation.arguments.integer("wait", in: 0...3_600)
      let listing = Listing<BelfryModel.Notification>(
        limit: try invocation.arguments.listingLimit, pageLimit: 500,
        cursor: invocation.arguments.text("after"))
      var names = SpaceNames()
      let zone = invocation.console.timeZone
      try await invocation.printListing(
        listing, header: NotificationText.header, dispensable: ["TYPE", "SPACE"], empty: "nothing is unread",
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
        cells: { NotificationText.cells($0, &names, in: zone) })
    })
}
