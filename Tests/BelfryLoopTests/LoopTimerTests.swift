import BelfryLoop
import Testing

@Suite struct LoopTimerTests {
  @Test func timersFireInTheOrderOfTheirDeadlines() async throws {
    try await withLoop { resident in
      let fired = await resident.run { resident in
        var fired: [Int] = []
        let gate = Gate()
        let start = ContinuousClock.now
        for milliseconds in [5, 1, 4, 2, 3, 2] {
          _ = resident.loop.schedule(at: start + .milliseconds(milliseconds)) { fired.append(milliseconds) }
        }
        _ = resident.loop.schedule(at: start + .milliseconds(6)) { gate.open() }
        await gate.wait()
        return fired
      }
      #expect(fired == [1, 2, 2, 3, 4, 5])
    }
  }

  @Test func aTimerNeverFiresEarly() async throws {
    try await withLoop { resident in
      let early = try await resident.run { resident in
        var early = 0
        for _ in 0..<20 {
          let deadline = ContinuousClock.now + .microseconds(700)
          try await resident.loop.sleep(until: deadline)
          if ContinuousClock.now < deadline { early += 1 }
        }
        return early
      }
      #expect(early == 0)
    }
  }

  @Test func aCallEndsTheSleepsThatHaveIt() async throws {
    try await withLoop { resident in
      let counts = try await resident.run { resident in
        let call = WakeUpCall()
        call.wakeAll()
        _ = resident.loop.schedule(after: .milliseconds(1)) { call.wakeAll() }
        try await resident.loop.sleep(for: .seconds(3_600), orUntil: call)
        try await resident.loop.sleep(for: .zero, orUntil: call)
        call.wakeAll()
        return call.count
      }
      #expect(counts == 3)
    }
  }

  @Test func cancelledTimersDoNotFireAndTheOthersDo() async throws {
    try await withLoop { resident in
      let fired = await resident.run { resident in
        var fired: Set<Int> = []
        let gate = Gate()
        let start = ContinuousClock.now + .milliseconds(10)
        let timers = (0..<100_000).map { number in
          resident.loop.schedule(at: start + .nanoseconds((number * 7_919) % 100_000)) {
            fired.insert(number)
          }
        }
        for (number, timer) in timers.enumerated() where number % 1_000 != 0 { timer.cancel() }
        _ = resident.loop.schedule(at: start + .milliseconds(1)) { gate.open() }
        await gate.wait()
        return fired
      }
      #expect(fired == Set(stride(from: 0, to: 100_000, by: 1_000)))
    }
  }

  @Test func aTimerMayCancelAnotherThatIsDue() async throws {
    try await withLoop { resident in
      let fired = await resident.run { resident in
        var fired: [String] = []
        let gate = Gate()
        let deadline = ContinuousClock.now
        var second: LoopTimer?
        _ = resident.loop.schedule(at: deadline) {
          fired.append("first")
          second?.cancel()
        }
        second = resident.loop.schedule(at: deadline) { fired.append("second") }
        _ = resident.loop.schedule(at: deadline) { gate.open() }
        await gate.wait()
        return fired
      }
      #expect(fired == ["first"])
    }
  }

  @Test func aTimerThatIsAlwaysDueLetsOthersLive() async throws {
    try await withLoop { resident in
      let rounds = await resident.run { resident in
        var rounds = 0
        let gate = Gate()
        func again() {
          rounds += 1
          if !gate.isOpen { _ = resident.loop.schedule(at: resident.loop.now, again) }
        }
        again()
        resident.loop.perform { resident.assumeIsolated { $0.note("lives") } }
        while resident.log.isEmpty { await Task.yield() }
        gate.open()
        return rounds
      }
      #expect(rounds > 0)
    }
  }

  @Test(arguments: [true, false]) func aCancelledSleepEndsAtOnce(cancelledBefore: Bool) async throws {
    try await withLoop { resident in
      let sleeping = Task {
        try await resident.run { resident in
          if cancelledBefore { while !Task.isCancelled { await Task.yield() } }
          try await resident.loop.sleep(for: .seconds(3_600))
        }
      }
      if !cancelledBefore { try await Task.sleep(for: .milliseconds(20)) }
      sleeping.cancel()
      await #expect(throws: CancellationError.self) { try await sleeping.value }
    }
  }
}
