import BelfryClient
import Foundation

extension Command {
  static let send = Command(
    name: "send", summary: "send a notification",
    detail: """
      Sends to a server, a channel, a group or a room, to some of its members, or to any accounts. Prints the id \
      of the notification. If you repeat the command with the same --client-id within the dedupe window, an hour \
      by default, the notification is sent only once. \
      For such a command, give --expire-at as a time. A duration counts from each attempt, so the content would differ.
      """,
    options: CommandOption.notificationFields
      + [
        .value(
          "client-id", "ID",
          "an id that the sender chooses; a send repeated with it within the dedupe window is not sent again"
        )
        .setting("messageClientId")
      ]
      + CommandOption.connection,
    changesSomething: true,
    examples: [
      Example("send --server 12 --body \"Practice is at seven.\"", "to everyone in server 12"),
      Example(
        "send --server 12 --channel 34 --to bob,carol --body \"You are on.\"", "to two members of a channel"),
      Example("send --group 56 --body -", "to a group, the text from standard input"),
      Example("send --to dave --body Hello --client-id hello-1", "to one account, safe to repeat"),
    ],
    run: { invocation in
      try await invocation.send { client, notification throws(BelfryError) in
        try await client.send(notification)
      }
    })

  static let resend = Command(
    name: "resend", summary: "resend a notification that may not have arrived",
    detail: """
      Takes the same options as send, with the --client-id of the first attempt. If the first attempt \
      arrived, nobody receives the notification again and its id is printed; if not, it is sent now.
      """,
    options: CommandOption.notificationFields
      + [
        CommandOption.value("client-id", "ID", "the id of the first attempt").required.setting(
          "messageClientId"
        )
      ]
      + CommandOption.connection,
    adviceOnOptions: Dictionary(
      uniqueKeysWithValues: ["message", "message-id", "id"].map {
        ($0, "A send that printed a message id has arrived, and nothing needs to be resent")
      }),
    strayAdvice:
      "To resend, repeat all options of the send with its --client-id. If the send printed an id, nothing needs to be resent",
    changesSomething: true,
    examples: [
      Example("resend --to dave --body Hello --client-id hello-1", "after a send whose answer was lost")
    ],
    run: { invocation in
      try await invocation.send { client, notification throws(BelfryError) in
        try await client.resend(notification)
      }
    })
}

extension Invocation {
  /// Sends the notification. If the user gave no `--client-id` and it is unknown if the send arrived, the
  /// error names the generated id: the same words again would send a second notification.
  fileprivate func send(
    by call: (BelfryClient, NewNotification) async throws(BelfryError) -> SendReceipt
  ) async throws {
    var notification = try newNotification()
    let id = notification.messageClientId ?? UUID().uuidString
    notification.messageClientId = id
    let receipt: SendReceipt
    do {
      receipt = try await call(try client(), notification)
    } catch let error as BelfryError where error.leavesOutcomeOpen {
      var failure = CommandFailure(error, of: .send, arguments, byUser: isUser)
      let expiry = notification.expireAt.map { " --expire-at \($0)" }
      let repeating =
        "it may have been sent: repeat the command with --client-id \(id)\(arguments.countsExpiryFromNow ? expiry ?? "" : ""), and it is sent only once"
      failure.advice = failure.advice.map { "\(repeating); \($0)" } ?? repeating
      throw failure
    }
    // The local zone decides what a time without an offset means. A user who sees it notices a wrong one.
    let expiry = notification.expireAt.map {
      ", expires \(TimeText.withOffset(unixMilliseconds: $0, in: console.timeZone))"
    }
    let outcome =
      receipt.duplicate
      ? "duplicate: it was sent before, and nobody receives it again" : "sent" + (expiry ?? "")
    try print(receipt, ["\(receipt.messageServerId)  \(outcome)"])
  }
}
