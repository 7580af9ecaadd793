import BelfryLoop
import Testing

@Suite struct JoinedWorkTests {
  /// A caller that comes while a run is under way gets the result of the next one, together with the others that wait.
  @Test func callersShareTheNextRun() async throws {
    let (begun, results) = try await withLoop { resident in
      await resident.run { resident in
        let loop = resident.loop
        let scope = LoopScope(on: loop)
        var begun: [String] = []
        var results: [String] = []
        var firstRun: CheckedContinuation<Void, Never>?
        let work = JoinedWork<String, Int>(in: scope) { key in
          begun.append(key)
          let number = begun.count
          if number == 1 { await withCheckedContinuation { firstRun = $0 } }
          return number
        }
        let ask = { (name: String, key: String) in
          _ = scope.start {
            results.append("\(name) \(await work.result(for: key) ?? 0)")
            if results.count == 5 { scope.close() }
          }
        }
        scope.start {
          ask("first", "bob")
          while firstRun == nil { await Task.yield() }
          ask("second", "bob")
          ask("third", "bob")
          ask("other", "carol")
          // Another key waits for nothing.
          while results.isEmpty { await Task.yield() }
          ask("fourth", "bob")
          try? await loop.sleep(for: .milliseconds(1))
          firstRun?.resume()
        }
        await scope.run()
        return (begun, results)
      }
    }
    #expect(begun == ["bob", "carol", "bob"])
    #expect(results.first == "other 2")
    #expect(Set(results) == ["other 2", "first 1", "second 3", "third 3", "fourth 3"])  // own text
  }

  @Test func aClosedScopeGivesNothing() async throws {
    let result = try await withLoop { resident in
      await resident.run { resident in
        let scope = LoopScope(on: resident.loop)
        let work = JoinedWork<String, Int>(in: scope) { _ in 1 }
        scope.close()
        return await work.result(for: "bob")
      }
    }
    #expect(result == nil)
  }
}
