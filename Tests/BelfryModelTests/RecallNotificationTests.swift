import BelfryModel
import ModelSamples
import Testing

struct RecallNotificationTests {
  private func recall(
    _ entry: LogEntry, by actor: Actor, in space: SpaceID = ServerDesk.space
  ) -> RecallNotification {
    RecallNotification(entry, in: space, by: actor)
  }

  private let entry: LogEntry
  private let updates = UpdateNotificationTests()

  init() throws { entry = try updates.entry() }

  /// The entry as the log gives it once it was recalled.
  private var gone: LogEntry {
    var gone = entry
    gone.content = []
    return gone
  }

  @Test func theSenderAndTrustedCallersMay() throws {
    for actor in [ServerDesk.mia, ServerDesk.app] {
      let transaction = try #require(try ServerDesk().decide(recall(entry, by: actor)).transaction)
      #expect(transaction.updates.map(\.messageServerId) == [entry.id])
      #expect(transaction.updates.map(\.content) == [nil])
      #expect(transaction.updates.map(\.audience) == [entry.audience])
    }
  }

  @Test func othersMayNotAndStrangersLearnNothing() throws {
    let desk = try ServerDesk()
    #expect(desk.refusal(of: recall(entry, by: ServerDesk.max))?.code == .forbidden)
    for actor in [ServerDesk.olivia, ServerDesk.sam] {
      #expect(desk.refusal(of: recall(entry, by: actor)) == .noNotification(entry.id))
    }
  }

  /// A recall says nothing to anybody, so an account that may not send any more may still recall.
  @Test func whoHasLeftMayTakeBack() throws {
    var desk = try ServerDesk()
    try desk.carryOut(RefusalTests.leave("mia"))
    #expect(desk.refusal(of: recall(entry, by: ServerDesk.mia)) == nil)
  }

  @Test func whatAnOperationToldIsNobodysToTakeBack() throws {
    let desk = try ServerDesk()
    let told = try updates.entry(type: Catalogue.serverMemberKickDone.code)
    #expect(desk.refusal(of: recall(told, by: ServerDesk.max))?.code == .forbidden)
    #expect(desk.refusal(of: recall(told, by: ServerDesk.mia)) == .noNotification(told.id))
    #expect(desk.refusal(of: recall(told, by: ServerDesk.app)) == nil)
  }

  @Test func twiceIsOnce() throws {
    var desk = try ServerDesk()
    try desk.carryOut(recall(entry, by: ServerDesk.mia))
    for actor in [ServerDesk.mia, ServerDesk.app] {
      #expect(try desk.decide(recall(gone, by: actor)).transaction == nil)
    }
    #expect(desk.refusal(of: recall(gone, by: ServerDesk.max))?.code == .forbidden)
    #expect(desk.refusal(of: recall(gone, by: ServerDesk.sam)) == .noNotification(entry.id))
  }

  /// Also not by an update that was decided on the entry as it was before.
  @Test func noUpdateBringsItBack() throws {
    var desk = try ServerDesk()
    try desk.carryOut(recall(entry, by: ServerDesk.mia))
    for entry in [entry, gone] {
      #expect(desk.refusal(of: try updates.update(entry, body: "dong")) == .noNotification(entry.id))
    }
  }
}
