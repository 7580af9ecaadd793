import BelfryLoop
import Synchronization
import Testing

@Suite struct EventLoopTests {
  @Test func anActorOnTheLoopRunsOnItsThread() async throws {
    try await withLoop { resident in
      #expect(!resident.loop.isCurrent)
      let inside = await resident.run { $0.loop.isCurrent }
      #expect(inside)
    }
  }

  @Test func jobsFromOtherThreadsAllRun() async throws {
    try await withLoop { resident in
      await withTaskGroup { group in
        for number in 0..<10_000 {
          group.addTask { await resident.note("\(number)") }
        }
      }
      let log = await resident.log
      #expect(Set(log).count == 10_000)
    }
  }

  @Test func jobsRunInTheOrderTheyWereEnqueued() async throws {
    try await withLoop { resident in
      let order = await resident.run { resident in
        var order: [Int] = []
        let scope = LoopScope(on: resident.loop)
        for number in 0..<1_000 {
          scope.start {
            order.append(number)
            if number == 999 { scope.close() }
          }
        }
        await scope.run()
        return order
      }
      #expect(order == Array(0..<1_000))
    }
  }

  @Test func actionsFromOtherThreadsRunInOrder() async throws {
    try await withLoop { resident in
      await withCheckedContinuation { done in
        for number in 0..<100 {
          resident.loop.perform {
            resident.assumeIsolated { $0.note("\(number)") }
            if number == 99 { done.resume() }
          }
        }
      }
      #expect(await resident.log == (0..<100).map(String.init))
    }
  }

  /// A task that never lets go of the loop but for its jobs must not keep descriptors from being served.
  @Test func aBusyActorDoesNotStarveTimers() async throws {
    try await withLoop { resident in
      let rounds = await resident.run { resident in
        var fired = false
        _ = resident.loop.schedule(after: .milliseconds(5)) { fired = true }
        var rounds = 0
        while !fired {
          await Task.yield()
          rounds += 1
        }
        return rounds
      }
      #expect(rounds > 0)
    }
  }

  @Test func stopRunsTheJobsEnqueuedBefore() async throws {
    let loop = try EventLoop(name: "test")
    let resident = Resident(on: loop)
    let done = Atomic(false)
    try await withThrowingTaskGroup { group in
      group.addTask { await resident.note("last") }
      try loop.spawnThread()
      try await group.waitForAll()
      loop.perform { done.store(true, ordering: .relaxed) }
      loop.stop()
      loop.join()
    }
    let isDone = done.load(ordering: .relaxed)
    #expect(isDone)
    loop.join()
  }

  @Test func hooksRunAfterTheJobsOfEachIterationUntilCancelled() async throws {
    try await withLoop { resident in
      let (before, after) = await resident.run { resident in
        var unflushed = 0
        var flushes: [Int] = []
        let hook = resident.loop.beforeWaiting(.flush) {
          if unflushed > 0 { flushes.append(unflushed) }
          unflushed = 0
        }
        let scope = LoopScope(on: resident.loop)
        for _ in 0..<3 { scope.start { unflushed += 1 } }
        scope.start {
          try? await resident.loop.sleep(for: .milliseconds(2)); scope.close()
        }
        await scope.run()
        let before = flushes
        hook.cancel()
        unflushed = 1
        try? await resident.loop.sleep(for: .milliseconds(2))
        return (before, flushes)
      }
      #expect(before == [3])
      #expect(after == [3])
    }
  }

  @Test func hooksRunInTheOrderOfTheirPhasesWhoeverRegisteredFirst() async throws {
    try await withLoop { resident in
      let order = await resident.run { resident in
        var order: [LoopHook.Phase] = []
        let phases: [LoopHook.Phase] = [.flush, .notify, .commit, .notify, .serve]
        let hooks = phases.map { phase in
          resident.loop.beforeWaiting(phase) { if order.count < phases.count { order.append(phase) } }
        }
        try? await resident.loop.sleep(for: .milliseconds(2))
        for hook in hooks { hook.cancel() }
        return order
      }
      #expect(order == [.notify, .notify, .serve, .commit, .flush])
    }
  }

  @Test func aHookThatMakesAJobDoesNotWaitForIt() async throws {
    try await withLoop { resident in
      await resident.run { resident in
        var waiter: CheckedContinuation<Void, Never>?
        let hook = resident.loop.beforeWaiting(.flush) {
          waiter?.resume()
          waiter = nil
        }
        // Nothing else would end the wait: there is no timer and no descriptor.
        await withCheckedContinuation { waiter = $0 }
        hook.cancel()
      }
    }
  }

  @Test func aHookMayAskForAnotherIteration() async throws {
    try await withLoop { resident in
      let runs = await resident.run { resident in
        var runs = 0
        let gate = Gate()
        // Nothing else would end the wait: there is no timer, no descriptor and no job.
        let hook = resident.loop.beforeWaiting(.flush) {
          runs += 1
          if runs < 5 { resident.loop.requireHooks() } else { gate.open() }
        }
        await gate.wait()
        hook.cancel()
        return runs
      }
      #expect(runs >= 5)
    }
  }
}
