import BelfryClient

extension Command {
  static let send = Command(
    name: "send", summary: "send a notification",
    detail: """
      To a server, a channel of it, a group or a room; to named members of one of these; or to accounts that \
      share nothing. Prints the id it was given. With --client-id, sending it again is no second notification.
      """,
    options: CommandOption.notificationFields
      + [.value("client-id", "ID", "sent twice with the same id, it is sent once")]
      + CommandOption.connection,
    examples: [
      Example("send --server 12 --body \"Practice is at seven.\"", "to everyone in server 12"),
      Example("send --server 12 --channel 34 --to bob,carol --body \"You are on.\"", "to two of a channel"),
      Example("send --group 56 --body -", "to a group, what stands on standard input"),
      Example("send --to dave --body Hello --client-id hello-1", "to one account, safe to repeat"),
    ],
    run: { invocation in
      let notification = try invocation.newNotification()
      try invocation.print(receiptOf: try await invocation.client().send(notification))
    })

  static let resend = Command(
    name: "resend", summary: "send again what may not have arrived",
    detail: """
      The same call as send with the --client-id of the first try. If the first one arrived, nobody receives \
      it again and its id is printed; if not, it is sent now.
      """,
    options: CommandOption.notificationFields
      + [CommandOption.value("client-id", "ID", "the id of the first try").required]
      + CommandOption.connection,
    examples: [
      Example("resend --to dave --body Hello --client-id hello-1", "after a send whose answer was lost")
    ],
    run: { invocation in
      let notification = try invocation.newNotification()
      try invocation.print(receiptOf: try await invocation.client().resend(notification))
    })
}

extension Invocation {
  fileprivate func print(receiptOf receipt: SendReceipt) throws {
    let outcome = receipt.duplicate ? "duplicate: it was sent before, nobody receives it again" : "sent"
    try print(receipt, ["\(receipt.messageServerId)  \(outcome)"])
  }
}
