import BelfryModel
import BelfryStore
import Testing

@testable import BelfryHooks

@Suite struct PushPlacesTests {
  private let partitions = Array(Partitions.standard.all.prefix(2))

  private func due(_ account: String, _ numbers: Range<Int>) throws -> [DuePush] {
    let account = try #require(AccountID(account))
    return numbers.map { number in
      // The attempts only make texts that differ.
      DuePush(text: PushTask(.badge, for: account, attempts: number).text, dueAtMilliseconds: Int64(number))
    }
  }

  @Test func anAccountWithSlowDevicesLeavesPlacesToOthers() throws {
    var places = PushPlaces(count: 16)
    let mallory = try due("mallory", 0..<400)
    let first = places.take(for: [mallory, []], in: partitions, most: places.freeCount)
    #expect(first.begun.count == 8)
    #expect(first.putOff.isEmpty, "its devices may be quick")
    #expect(places.freeCount == 8)
    // Three of eight end within a second, and others take their places.
    for one in first.begun.prefix(3) { places.giveBack(one.here) }
    var (begun, putOff) = (0, 0)
    for _ in 1...PushPlaces.looksUntilJudged {
      let next = places.take(for: [mallory, []], in: partitions, most: places.freeCount)
      (begun, putOff) = (begun + next.begun.count, putOff + next.putOff.count)
    }
    #expect(begun == 3)
    // All else is put off, or it would be all that is found to be due.
    #expect(putOff == 400 - 8)
    let second = places.take(
      for: [mallory, try due("victim", 0..<1)], in: partitions, most: places.freeCount)
    #expect(second.begun.compactMap { $0.task?.account.text } == ["victim"])
    #expect(second.putOff.isEmpty)
  }

  @Test func aBurstToQuickDevicesIsNotPutOff() throws {
    var places = PushPlaces(count: 16)
    var burst = try due("alice", 0..<400)
    while !burst.isEmpty {
      let looks = (0..<PushPlaces.looksUntilJudged).map { _ in
        places.take(for: [burst, []], in: partitions, most: places.freeCount)
      }
      let begun = looks.flatMap(\.begun)
      #expect(begun.count == min(burst.count, 8) && looks.allSatisfy { $0.putOff.isEmpty })
      // All of them end within the second.
      for one in begun { places.giveBack(one.here) }
      let ended = Set(begun.map(\.push.text))  // own text
      burst.removeAll { ended.contains($0.text) }
    }
    #expect(places.isUnused)
  }

  /// However quick its devices are, an account does not fill the window in which the pushes of others are found.
  @Test func aBurstThatFillsTheWindowMakesRoom() throws {
    var places = PushPlaces(count: 16)
    let burst = try due("alice", 0..<PushPlaces.windowMax)
    let almost = places.take(for: [Array(burst.dropLast()), []], in: partitions, most: places.freeCount)
    #expect(almost.begun.count == 8 && almost.putOff.isEmpty)
    // They stay due, and keep nobody else from being entered.
    #expect(almost.refused == [PushPlaces.windowMax - 9, 0])
    let full = places.take(for: [burst, []], in: partitions, most: places.freeCount)
    #expect(full.putOff.count == PushPlaces.putOffMax && full.putOff.allSatisfy(\.isBrief))
    #expect(full.refused == [PushPlaces.windowMax - 8 - PushPlaces.putOffMax, 0])
  }

  @Test func aReceiverThatIsLeftAloneKeepsNobodyWaiting() throws {
    var places = PushPlaces(count: 4)
    let pushes = try due("mallory", 0..<600) + due("victim", 0..<1)
    let first = places.take(for: [pushes, []], in: partitions, most: 4) { $0.text.contains("mallory") }
    #expect(first.begun.compactMap { $0.task?.account.text } == ["victim"])
    #expect(first.putOff.count == 500)
    #expect(places.freeCount == 3)
    // They are under way until it is noted when they are due again.
    let second = places.take(for: [pushes, []], in: partitions, most: 3) { $0.text.contains("mallory") }
    #expect(second.begun.isEmpty && second.putOff.count == 100)
  }

  @Test func whatCannotBeNotedAsDoneTakesNoPlaceAndIsNotBegunAgain() throws {
    var places = PushPlaces(count: 2)
    let pushes = try due("alice", 0..<1) + due("bob", 0..<1)
    let begun = places.take(for: [pushes, []], in: partitions, most: 2).begun
    #expect(begun.count == 2 && places.freeCount == 0)
    for one in begun { places.setAside(one.here) }
    #expect(places.freeCount == 2)
    #expect(places.take(for: [pushes, []], in: partitions, most: 2).begun.isEmpty)
    for one in begun { places.giveBack(one.here) }
    #expect(places.isUnused && places.freeCount == 2)
    #expect(places.take(for: [pushes, []], in: partitions, most: 2).begun.count == 2)
  }

  /// While all is busy, nothing waits longer than for a place.
  @Test func whatWaitsForAPlaceIsNotPutOff() throws {
    var places = PushPlaces(count: 4)
    let many = try (0..<10).flatMap { try due("account \($0)".replacing(" ", with: "-"), 0..<2) }
    let first = places.take(for: [many, []], in: partitions, most: places.freeCount)
    #expect(first.begun.count == 4)
    #expect(first.putOff.isEmpty)
    for one in first.begun { places.giveBack(one.here) }
    #expect(places.isUnused)
    #expect(places.freeCount == 4)
    let second = places.take(for: [Array(many.dropFirst(8)), []], in: partitions, most: places.freeCount)
    #expect(second.begun.count == 4)
  }

  @Test func whatIsUnderWayDoesNotBeginAgain() throws {
    var places = PushPlaces(count: 8)
    let some = try due("ann", 0..<3)
    #expect(places.take(for: [some, []], in: partitions, most: 8).begun.count == 3)
    #expect(places.take(for: [some, []], in: partitions, most: 8).begun.isEmpty)
  }
}
