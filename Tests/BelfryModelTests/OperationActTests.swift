import BelfryModel
import ModelSamples
import Testing

/// Refusals say in words what the caller may not do.
struct OperationActTests {
  private static let names =
    CallbackEvent.operations.flatMap { $0.names } + Heartbeat.names + TimeOutAttendees.names

  @Test(arguments: names) func everyOperationHasItsActInWords(name: OperationName) {
    #expect(OperationName.acts[name] != nil)
    #expect(Refusal(.forbidden, name.act).operationNames == [])
  }

  @Test func anAdminsActIsNamedInWords() throws {
    let desk = try ServerDesk()
    let answer = AnswerServerApplication(
      ServerDesk.server, actor: ServerDesk.mia,
      id: RequestID(.application, of: "sam", in: ServerDesk.space), isAccepted: true)
    #expect(desk.refusal(of: answer)?.detail == "only the owner or an admin may approve an application")
    let handOver = HandOverServer(ServerDesk.server, actor: ServerDesk.mia, to: "mia")
    #expect(desk.refusal(of: handOver)?.detail == "only the owner may hand over the server")
  }

  @Test func aSecondAnswerIsRefusedWithoutAnId() throws {
    var desk = try GroupDesk.desk()
    let answer = GroupDesk.answer(Actor(account: "ivy"))
    try desk.carryOut(answer)
    #expect(
      desk.refusal(of: answer)?.detail
        == "no such invitation is pending: it was answered already, it has expired, or there was none")
    let admit = GroupDesk.admit(GroupDesk.adam)
    try desk.carryOut(admit)
    let refusal = try #require(desk.refusal(of: admit))
    #expect(refusal.detail.hasPrefix("no such application is pending: it was answered already"))
  }
}

extension Refusal {
  /// The names of operations in the text, as programs know them: `acceptApplication`.
  var operationNames: [String] {
    let words = Set(CallbackEvent.operations.flatMap { $0.names.map(\.word) })
      .filter { $0.contains(where: \.isUppercase) }
    return detail.split { !$0.isLetter }.map(String.init).filter(words.contains)
  }
}
