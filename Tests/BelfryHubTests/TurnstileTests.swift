import Testing

@testable import BelfryHub

struct TurnstileTests {
  private final class Guests {
    var entered: [String] = []
  }

  private let guests = Guests()
  private let turnstile = Turnstile(places: 1)

  private func come(_ name: String, wants: Bool = true) {
    turnstile.enter { [guests] in
      guests.entered.append(name)
      return wants
    }
  }

  @Test func entersOneAfterTheOther() {
    for name in ["a", "b", "c"] { come(name) }
    #expect(guests.entered == ["a"])
    turnstile.leave()
    #expect(guests.entered == ["a", "b"])
    turnstile.leave()
    turnstile.leave()
    come("d")
    #expect(guests.entered == ["a", "b", "c", "d"])
  }

  @Test func whoDoesNotWantThePlacePassesItOn() {
    come("a")
    for name in ["b", "c"] { come(name, wants: false) }
    come("d")
    turnstile.leave()
    #expect(guests.entered == ["a", "b", "c", "d"])
    come("e")
    #expect(guests.entered.last == "d")
  }

  @Test func whoStepsOutLetsAnotherInAndReturnsWhenThereIsAPlace() async {
    for name in ["a", "b"] { come(name) }
    await turnstile.stepOut {
      #expect(guests.entered == ["a", "b"])
      turnstile.leave()
    }
    come("c")
    #expect(guests.entered == ["a", "b"])
    turnstile.leave()
    #expect(guests.entered == ["a", "b", "c"])
  }
}
