import BelfryModel
import Foundation
import Testing

/// docs/notification-types.md shows the catalogue as it is. `BELFRY_WRITE_DOCS=1` writes it again.
struct CatalogueDocumentTests {
  private static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("docs/notification-types.md")

  private static let document = """
    # The types of notifications

    Every type is one row of the catalogue (`Sources/BelfryModel/Catalogue`), which the code, `belfry types`, this
    page and the tests come from. The parties of an event receive it without a subscription, and in
    their own space if they do not belong to the one it happened in. Back ends that keep roles, categories and visitors
    themselves announce the types 18, 20 to 30, 34 and 35 (`POST /v1/servers/{serverId}/announcements`). The back end
    chooses their `attach`. If the back end names a `channelId`, the announcement goes
    to that channel instead of to all members.

    A built-in notification has the `toType` of its space (1, 2, 6 or 8) and no `toAccids`, even if it is only for named accounts.
    `fromAccount` is the account that acted, and `fromNick` its nick in the server, if it has one. Unless a back end named a
    `channelId`, a built-in notification about a server itself has none. The default channel carries nothing by itself: a client may
    show such notifications there.

    “Critical for” names the accounts that receive a type regardless of their [preferences](http.md#preferences). “As sent” means that
    the sender chooses the receivers. A server is large if it has more members than `limits.subscriptionThreshold`, which is 2,000 by
    default.

    \(Catalogue.markdown)
    """

  @Test func theDocumentShowsTheCatalogue() throws {
    if ProcessInfo.processInfo.environment["BELFRY_WRITE_DOCS"] != nil {
      try Self.document.write(to: Self.path, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOf: Self.path, encoding: .utf8) == Self.document)
  }
}
