import BelfryModel
import ModelSamples
import Testing

/// Refusals on channels that do not depend on the caller. ``ChannelAccessTests`` has those that do.
struct ChannelRefusalTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var operation: any Operation
    var code: Refusal.Code
    var field: String?
    var prepare: @Sendable (inout Desk) throws -> Void

    init(
      _ name: String, _ operation: any Operation, _ code: Refusal.Code, field: String? = nil,
      when prepare: @escaping @Sendable (inout Desk) throws -> Void = { _ in }
    ) {
      testDescription = name
      self.operation = operation
      self.code = code
      self.field = field
      self.prepare = prepare
    }
  }

  private static let desk = ChannelDesk.self
  private static let adam = ServerDesk.adam
  private static let many = (0...Limits.accountsPerCall).compactMap { AccountID("a\($0)") }

  static let rows: [Row] =
    ([
      desk.rename(99, adam), desk.close(99, ServerDesk.olivia), desk.join(99, "pia"), desk.leave(99, "pia"),
      desk.invite(99, "cleo", ["pia"]), desk.answer(99, "ida", accepts: true),
      desk.remove(99, adam, ["cleo"]),
      desk.list(99, adam, .allow, ["pia"]), desk.mute(99, adam, ["pia"]), desk.unmute(99, adam, ["pia"]),
    ] as [any Operation]).map {
      Row("no such channel: \(type(of: $0))", $0, .notFound, field: "channelId")
    }
    + [[], many].flatMap { accounts -> [Row] in
      ([
        desk.invite(11, "cleo", accounts), desk.remove(11, adam, accounts), desk.mute(11, adam, accounts),
        desk.list(11, adam, .block, accounts), desk.unmute(11, adam, accounts),
      ] as [any Operation]).map {
        Row("\(accounts.count) accounts: \(type(of: $0))", $0, .invalidField, field: "accids")
      }
    }
    + [0, -1, Limits.muteMaximumMilliseconds + 1, .max].map { (duration: Int64) in
      Row(
        "muting for \(duration) ms", desk.mute(11, adam, ["cleo"], milliseconds: duration), .invalidField,
        field: "durationMilliseconds")
    }
    + invitations
    + [
      Row("one of them not in it", desk.remove(11, adam, ["cleo", "pia"]), .notFound, field: "accids"),
      Row(
        "one of them the owner", desk.list(11, adam, .block, ["pia", "olivia"]), .forbidden, field: "accids"),
      Row("a full list", desk.list(11, adam, .block, ["pia"]), .tooMany) { desk in
        for number in 1..<Limits.accountsPerList {
          desk.texts[RecordAddress(ServerDesk.space, .channelBlocked(11), "a\(number)")] = "0-0"
        }
      },
    ]

  static let invitations: [Row] = [
    Row(
      "inviting at length",
      InviteToChannel(
        ServerDesk.server, id: 11, actor: desk.app, accounts: ["pia"],
        postscript: String(repeating: "a", count: Limits.messageCharacters + 1)), .invalidField,
      field: "postscript"),
    Row(
      "an invitation to another channel", answer(12, desk.request(11, "ida")), .notFound, field: "channelId"),
    Row("no invitation", desk.answer(11, "pia", accepts: true), .notFound, field: "requestId"),
    Row("an invitation answered", desk.answer(11, "ida", accepts: true), .notFound, field: "requestId") {
      _ = try $0.carryOut(desk.answer(11, "ida", accepts: false))
    },
    Row("an invitation expired", desk.answer(11, "ida", accepts: true), .notFound, field: "requestId") {
      $0.nowMilliseconds += $0.limits.invitationMilliseconds
    },
    Row("an invitation used up", desk.answer(11, "ida", accepts: true), .notFound, field: "requestId") {
      _ = try $0.carryOut(desk.join(11, "ida"))
    },
    Row(
      "an invitation ended by blocking", desk.answer(11, "ida", accepts: true), .notFound, field: "requestId"
    ) {
      _ = try $0.carryOut(desk.list(11, desk.app, .block, ["ida"]))
      _ = try $0.carryOut(desk.list(11, desk.app, .block, adds: false, ["ida"]))
    },
    Row("a channel closed meanwhile", desk.answer(11, "ida", accepts: true), .notFound, field: "channelId") {
      _ = try $0.carryOut(desk.close(11, ServerDesk.olivia))
    },
    Row(
      "declining at length",
      AnswerChannelInvitation(
        ServerDesk.server, id: 11, request: desk.request(11, "ida"), actor: Actor(account: "ida"),
        isAccepted: false, postscript: String(repeating: "a", count: Limits.messageCharacters + 1)),
      .invalidField, field: "postscript"),
  ]

  private static func answer(_ id: EntityID, _ request: RequestID) -> AnswerChannelInvitation {
    AnswerChannelInvitation(
      ServerDesk.server, id: id, request: request, actor: Actor(account: "ida"), isAccepted: true,
      postscript: nil)
  }

  @Test(arguments: rows)
  func isRefused(row: Row) throws {
    var desk = try ChannelDesk.desk()
    try row.prepare(&desk)
    let refusal = desk.refusal(of: row.operation)
    #expect(refusal?.code == row.code)
    #expect(refusal?.field == row.field)
    #expect(refusal?.detail.isEmpty == false)
    #expect(refusal?.operationNames == [])
  }
}
