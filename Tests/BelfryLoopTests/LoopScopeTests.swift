import BelfryLoop
import Testing

@Suite struct LoopScopeTests {
  @Test func workRunsOnTheLoopBeforeAndAfterItSuspends() async throws {
    try await withLoop { resident in
      let neighbour = Resident(on: resident.loop)
      let places = await resident.run { resident in
        let loop = resident.loop
        var places: [Bool] = []
        let scope = LoopScope(on: loop)
        // A nonisolated callback, as a descriptor's handler is: it has no isolation to hand on.
        _ = loop.schedule(after: .zero) {
          scope.start {
            places.append(loop.isCurrent)
            try? await loop.sleep(for: .milliseconds(1))
            places.append(loop.isCurrent)
            await neighbour.note("called")
            places.append(loop.isCurrent)
            scope.close()
          }
        }
        await scope.run()
        places.append(loop.isCurrent)
        return places
      }
      #expect(places == [true, true, true, true])
      #expect(await neighbour.log == ["called"])
    }
  }

  @Test func closingCancelsWorkUnderWayAndWorkNotYetBegun() async throws {
    try await withLoop { resident in
      let (ends, accepted) = await resident.run { resident in
        let loop = resident.loop
        var ends: [String] = []
        let scope = LoopScope(on: loop)
        scope.start {
          do {
            try await loop.sleep(for: .seconds(3_600))
          } catch {
            ends.append("interrupted")
          }
        }
        scope.start {
          scope.start { ends.append(Task.isCancelled ? "begun cancelled" : "begun") }
          scope.close()
        }
        await scope.run()
        return (ends.sorted(), scope.start {})
      }
      #expect(ends == ["begun cancelled", "interrupted"])
      #expect(!accepted)
    }
  }

  @Test func cancellingTheCallerClosesTheScope() async throws {
    try await withLoop { resident in
      let running = Task {
        await resident.run { resident in
          var ended = false
          let scope = LoopScope(on: resident.loop)
          scope.start {
            try? await resident.loop.sleep(for: .seconds(3_600))
            ended = true
          }
          await scope.run()
          return ended
        }
      }
      try await Task.sleep(for: .milliseconds(20))
      running.cancel()
      #expect(await running.value)
    }
  }

  @Test func manyWorksStartWhileOthersWait() async throws {
    try await withLoop { resident in
      let (started, ended) = await resident.run { resident in
        var (started, ended) = (0, 0)
        let scope = LoopScope(on: resident.loop)
        let gate = Gate()
        scope.start { await gate.wait() }
        func startNext() {
          guard started < 20_000 else {
            gate.open()
            return scope.close()
          }
          started += 1
          scope.start {
            await Task.yield()
            ended += 1
            startNext()
          }
        }
        for _ in 0..<10 { startNext() }
        await scope.run()
        return (started, ended)
      }
      #expect(started == 20_000)
      #expect(ended >= started)
    }
  }
}
