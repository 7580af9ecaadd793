import TestKit
import Testing

@testable import BelfryRedis

/// Live messages that wait for replicas.
@Suite struct HeldMessagesTests {
  @Test func aMessageThatComesWhileAQuestionIsOutWaitsForTheNext() {
    var held = HeldMessages()
    #expect(held.holdMessage(message(1)) == .ask)
    #expect(held.holdMessage(message(2)) == .none)
    var answer = held.applyAnswer(isReplicated: true)
    #expect(answer.delivered == [message(1)] && answer.action == .ask)
    answer = held.applyAnswer(isReplicated: true)
    #expect(answer.delivered == [message(2)] && answer.action == .none)
    #expect(held.isEmpty && held.bytes == 0)
  }

  @Test func whatIsNotReplicatedIsAskedAboutAgain() {
    var held = HeldMessages()
    _ = held.holdMessage(message(1))
    let answer = held.applyAnswer(isReplicated: false)
    #expect(answer.delivered.isEmpty && answer.action == .ask)
    #expect(held.applyAnswer(isReplicated: true).delivered == [message(1)])
  }

  /// The connection was lost while a question was out: its answer says nothing of what the next connection has brought.
  @Test func anAnswerOfBeforeALossLetsNothingPass() {
    var held = HeldMessages()
    _ = held.holdMessage(message(1))
    held.dropAll()
    #expect(held.holdMessage(message(2)) == .none)
    let answer = held.applyAnswer(isReplicated: true)
    #expect(answer.delivered.isEmpty && answer.action == .ask)
  }

  @Test func oneByteMoreThanTheLimitGivesUp() {
    var held = HeldMessages()
    let large = HeldMessages.Message(channel: "a", payload: Array(repeating: 0, count: 1 << 20))
    var count = 0
    while held.holdMessage(large) != .giveUp { count += 1 }
    #expect(count == 15)
    held.dropAll()
    #expect(held.bytes == 0 && held.isEmpty)
  }

  /// Against a model that knows of each message which question covers it.
  @Test(arguments: TestEnvironment.givenSeed.map { [$0] } ?? (0..<40).map { TestEnvironment.seed &+ $0 })
  func whatIsDeliveredWasCoveredInOrderAndOnce(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var held = HeldMessages()
    /// Each message that is held, by the number of the question that covers it; nil: none was asked yet.
    var model: [(message: HeldMessages.Message, question: Int?)] = []
    var question = 0
    var isOut = false
    func asked() {
      question += 1
      isOut = true
      for index in model.indices { model[index].question = question }
    }
    for number in 0..<400 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        let next = message(number)
        model.append((next, nil))
        if held.holdMessage(next) == .ask { asked() }
      case 5..<8 where isOut:
        isOut = false
        let isReplicated = Bool.random(using: &random)
        let answer = held.applyAnswer(isReplicated: isReplicated)
        let covered = isReplicated ? model.filter { $0.question == question }.map(\.message) : []
        #expect(answer.delivered == covered)
        if isReplicated { model.removeAll { $0.question == question } }
        #expect((answer.action == .ask) == !model.isEmpty)
        if answer.action == .ask { asked() }
      case 8:
        let channels = Set((0..<Int.random(in: 1...2, using: &random)).map { channel(number + $0) })
        held.dropMessages(of: channels)
        model.removeAll { channels.contains($0.message.channel) }
      default:
        guard Int.random(in: 0..<20, using: &random) == 0 else { continue }
        held.dropAll()
        model = []
      }
      #expect(held.isEmpty == model.isEmpty)
    }
  }

  private func channel(_ number: Int) -> String { "channel \(number % 3)" }

  private func message(_ number: Int) -> HeldMessages.Message {
    HeldMessages.Message(channel: channel(number), payload: [UInt8(truncatingIfNeeded: number)])
  }
}
