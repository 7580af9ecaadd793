import BelfryClient
import BelfryModel
import Foundation

extension Command {
  static let read = Command(
    name: "read", summary: "mark notifications as read",
    detail: """
      Marks notifications as read for good, on every device of the account: they are never delivered \
      again. Marking a notification that is already read, or unknown, is not an error.
      """,
    operands: [Operand(name: "MESSAGE", meaning: "the notifications", isRequired: false, repeats: true)],
    options: [
      .list("message", "ID", "the notifications, in place of MESSAGE"),
      .value("up-to", "ID|all", "everything up to this notification, or all notifications"),
    ] + CommandOption.connection,
    changesSomething: true,
    examples: [
      Example("read 382919632803229696 382919632803229697", "two of them"),
      Example("read --message 382919632803229696,382919632803229697", "the same"),
      Example("read --up-to all --as bob", "all that bob has"),
    ],
    run: { invocation in
      let arguments = invocation.arguments
      let words = try arguments.operands.flatMap { $0.split(separator: ",") }
        .map { try arguments.markedMessage(String($0)) }
      let namesSome = arguments.isSet("message") || !words.isEmpty
      guard namesSome || arguments.isSet("up-to") else { throw UsageError("MESSAGE or --up-to is needed") }
      guard !namesSome || !arguments.isSet("up-to") else {
        throw UsageError("MESSAGE and --up-to cannot be combined")
      }
      let upTo = arguments.text("up-to") == "all" ? MessageID.last : try arguments.message("up-to")
      try refuseFuture(upTo)
      var items = (try arguments.messages("message") + words).map { ReadItem($0) }[...]
      let client = try invocation.client()
      var count = 0
      if let upTo { count = try await client.markRead(upTo: upTo) }
      while !items.isEmpty {
        count += try await client.markRead(items: Array(items.prefix(itemsPerCall)))
        items = items.dropFirst(itemsPerCall)
      }
      try invocation.print(["read": count], [sentence(count, isUpTo: upTo != nil)])
    })

  /// Nothing is an error here, so a zero has its possible reasons with it.
  private static func sentence(_ count: Int, isUpTo: Bool) -> String {
    guard count == 0 else { return "\(count) marked read" }
    return isUpTo
      ? "0 marked read: nothing up to there was unread"
      : "0 marked read: each was read before, is hidden by the preferences of the account, or is no notification for it"
  }

  /// The most the broker takes at a time.
  private static let itemsPerCall = 500
}

extension Arguments {
  /// A notification that is given as a word.
  fileprivate func markedMessage(_ word: String) throws(UsageError) -> MessageID {
    guard word != "all" else {
      throw UsageError(
        "MESSAGE must be a message id, and \"all\" is not one", suggestion: "--up-to all")
    }
    return try Self.message(word, "MESSAGE")
  }
}

/// The id of a server or a group is mostly later than any notification, and would mark everything for good.
private func refuseFuture(_ id: MessageID?) throws(UsageError) {
  let dayAhead = Int64(Date().timeIntervalSince1970 * 1_000) + 24 * 3_600_000
  guard let id, id != .last, id.unixMilliseconds > dayAhead else { return }
  throw UsageError(
    "--up-to must be the id of a notification or all, and \(id.text) is later than any notification: is it the id of a server, a channel, a group or a room?"
  )
}
