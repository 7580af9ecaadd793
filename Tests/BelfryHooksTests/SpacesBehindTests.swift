import BelfryModel
import BelfryStore
import Testing

@testable import BelfryHooks

@Suite struct SpacesBehindTests {
  private let one = SpaceID.server(EntityID(bits: 2))
  private let two = SpaceID.server(EntityID(bits: 4))

  private func id(_ number: Int64) -> MessageID { MessageID(number) ?? .zero }

  @Test func theyAreCountedAsTheyComeAndGo() {
    var behind = SpacesBehind(count: 5)
    behind.take([one: HeldCopies(ids: [id(1)])])
    behind.put(HeldCopies(ids: [id(1), id(2)]), of: one)
    #expect(behind.count == 5)
    behind.put(HeldCopies(ids: [id(3)]), of: two)
    #expect(behind.count == 6)
    behind.put(HeldCopies(), of: one)
    behind.put(HeldCopies(), of: one)
    #expect(behind.count == 5)
    #expect(behind.holds(two) && !behind.holds(one))
    #expect(Set(behind.unsaved.keys) == [one, two])
    behind.noteSaved()
    #expect(behind.unsaved.isEmpty)
    behind.put(HeldCopies(ids: [id(4)]), of: one)
    #expect(behind.count == 6)
  }

  /// A space that is due and has no known copies is no longer behind, and was not counted.
  @Test func whatIsDueWithoutCopiesIsRemoved() {
    var behind = SpacesBehind(count: 1)
    var due = DueCopies()
    due.spaces = [(one, HeldCopies(dueAtMilliseconds: 0)), (two, HeldCopies(ids: [id(1)]))]
    behind.take(due)
    behind.put(HeldCopies(), of: one)
    #expect(behind.count == 1)
    #expect(behind.unsaved[one] == HeldCopies())
  }

  @Test func thereIsRoomForThousands() {
    var behind = SpacesBehind()
    for number in 1...SpacesBehind.countMax {
      #expect(behind.hasRoom)
      behind.put(HeldCopies(ids: [id(7)]), of: .server(EntityID(bits: UInt64(number) << 1)))
    }
    #expect(!behind.hasRoom)
  }

  @Test func copiesBeyondTheFirstOnesAreLookedFor() {
    var held = HeldCopies(ids: [id(1)])
    for number in 2...100 { held.hold(id(Int64(number))) }
    #expect(held.ids.count == HeldCopies.idsMax)
    #expect(held.ids.last == id(Int64(HeldCopies.idsMax)))
    #expect(held.rest == id(Int64(HeldCopies.idsMax) + 1))
    held.ids = []
    #expect(held.first == held.rest)
  }
}
