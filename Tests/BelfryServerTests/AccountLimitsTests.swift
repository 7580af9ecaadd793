import BelfryModel
import Testing

@testable import BelfryInterface
@testable import BelfryServer

@Suite struct AccountLimitsTests {
  let start = ContinuousClock.now

  private func account(_ name: String) throws -> AccountID { try #require(AccountID(name)) }

  private func limits(sendsPerSecond: Int = 100, streams: Int = 2) -> AccountLimits {
    var limits = Limits()
    limits.sendsPerSecondPerAccount = sendsPerSecond
    limits.streamsPerAccount = streams
    return AccountLimits(limits)
  }

  @Test(arguments: [1, 7, 100])
  func anIdleAccountHasABurstThenItsPace(pace: Int) throws {
    let limits = limits(sendsPerSecond: pace)
    let alice = try account("alice")
    for _ in 0..<pace * AccountLimits.burstSeconds {
      #expect(limits.take(1, .sends, of: alice, now: start) == nil)
    }
    #expect(limits.take(1, .sends, of: alice, now: start) == 1)
    #expect(limits.take(1, .sends, of: try account("bob"), now: start) == nil)

    // Over the next ten seconds it gets its pace, whenever it asks.
    var taken = 0
    for tick in 1...1_000
    where limits.take(1, .sends, of: alice, now: start + .milliseconds(10) * tick) == nil {
      taken += 1
    }
    #expect(abs(taken - pace * 10) <= 1)
  }

  @Test func refusedSendsCostNothing() throws {
    let limits = limits(sendsPerSecond: 1)
    let alice = try account("alice")
    for _ in 0..<100 { _ = limits.take(1, .sends, of: alice, now: start) }
    #expect(limits.take(1, .sends, of: alice, now: start + .milliseconds(999)) == 1)
    #expect(limits.take(1, .sends, of: alice, now: start + .seconds(1)) == nil)
  }

  /// One request may cause more than a pace allows: then the next one waits until it is paid off, and no longer than
  /// the longest debt.
  @Test(arguments: [(count: 500, seconds: 4), (count: 1_000_000, seconds: AccountLimits.debtSecondsMax + 1)])
  func whatWasCausedIsPaidBeforeTheNext(count: Int, seconds: Int) throws {
    let limits = limits()
    let alice = try account("alice")
    #expect(limits.take(1, .sends, of: alice, now: start) == nil)
    limits.owe(count, .sends, of: alice, now: start)
    let wait = try #require(limits.take(1, .sends, of: alice, now: start))
    #expect(abs(wait - seconds) <= 1)
    #expect(limits.take(1, .sends, of: alice, now: start + .seconds(wait)) == nil)
    #expect(limits.take(1, .reads, of: alice, now: start) == nil, "what reads is paid by itself")
  }

  @Test func idleAccountsAreForgotten() throws {
    let limits = limits()
    for number in 0..<AccountLimits.accountsBeforeSweep {
      _ = limits.take(1, .sends, of: try account("a\(number)"), now: start)
    }
    #expect(limits.accountsSending == AccountLimits.accountsBeforeSweep)
    _ = limits.take(1, .sends, of: try account("late"), now: start + .seconds(1))
    #expect(limits.accountsSending == 1)
  }

  @Test func placesAreCountedPerAccount() throws {
    let limits = limits(streams: 2)
    let (alice, bob) = (try account("alice"), try account("bob"))
    #expect(limits.openSlot(of: alice))
    #expect(limits.openSlot(of: alice))
    #expect(!limits.openSlot(of: alice))
    #expect(limits.openSlot(of: bob))
    limits.closeSlot(of: alice)
    #expect(limits.openSlot(of: alice))
    for account in [alice, alice, bob] { limits.closeSlot(of: account) }
    #expect(limits.accountsWithSlots == 0)
  }
}
