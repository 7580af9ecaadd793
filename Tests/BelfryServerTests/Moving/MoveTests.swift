import BelfryStore
import Foundation
import Glibc
import TestKit
import Testing

@testable import BelfryServer

@Suite(.timeLimit(.minutes(3))) struct MoveTests {
  @Test func valuesOfAllTypesGoToTheNodesOfTheirSlots() async throws {
    try await withRedisServer(.debuggable()) { source in
      try source.fillMovedKeyspace()
      try await withRedisCluster { cluster in
        let before = try source.values
        let report = try await move(source.url, to: cluster.url)
        #expect(report.outcome == .moved)
        #expect(report.compared == before.count && report.copied == before.count)
        #expect(report.entries == 301)
        #expect(try cluster.values == before)
        #expect(try source.values == before, "it stays as it was")
        #expect(cluster.format == "3 64")
        #expect(try source.format.hasPrefix("moved 3 64 "))
        for master in cluster.masters {
          #expect(try master.command("FUNCTION", "LIST").contains("belfry_"))
          #expect(try master.keys("other") == [])
        }
        // A second run reports the same.
        #expect(try await move(source.url, to: cluster.url).outcome == .movedBefore)
        let refused = await refusal { try await move(source.url, to: cluster.url, isCancel: true) }
        #expect(refused?.code == "nothingToCancel")
      }
    }
  }

  /// A backup that a timer makes must not go on with the Redis that brokers have left.
  @Test func whatWasMovedIsNotBackedUp() async throws {
    try await withTwo { source, target in
      #expect(try await move(source.url, to: target.url).outcome == .moved)
      try await TemporaryFolder.with { folder in
        let file = folder.path + "/backup"
        let refused = await refusal { try await makeBackup(to: file, redis: source.url) }
        #expect(refused?.code == "movedAlready")
        #expect(refused?.advice == "back up the Redis that it was moved to")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left == [])
        let entries = try await makeBackup(to: file, redis: target.url).counts.entries
        #expect(entries == 301)
      }
    }
  }

  /// A broker at the target would refuse partitions without hashes, and could not know that they never had one.
  @Test func hashesThatAnEarlierReleaseDidNotMakeAreMadeAtTheSource() async throws {
    try await withTwo { source, target in
      let hashes = KeyspaceDivision(from: .standard, to: .standard).partitionHashes.map(\.key)
      let missing = try hashes.filter { try source.command("HGET", $0, KeyspaceDivision.lastField) == "0-0" }
      #expect(!missing.isEmpty)
      for key in missing { try source.command("DEL", key) }
      #expect(try await move(source.url, to: target.url).outcome == .moved)
      for key in missing { #expect(try target.command("HGET", key, KeyspaceDivision.lastField) == "0-0") }
      #expect(try target.command("HGET", FormatRecordField.key, FormatRecordField.hashes) == "made")
    }
  }

  /// `DUMP` gives other bytes for the same values there, so each field, member and entry is compared.
  @Test func valuesInAnotherFormAreCompared() async throws {
    try await withTwo(["rdbcompression": "no"]) { source, target in
      let before = try source.values
      let report = try await move(source.url, to: target.url)
      #expect(report.compared == before.count)
      #expect(try target.values == before)
      #expect(try target.command("HGET", "belfry:format", "secret") == "abcdef")
    }
  }

  @Test(arguments: [
    ["XADD", "belfry:{1.1}:log:server:1", "*", "a", "b"],
    ["XDEL", "belfry:{2.1}:log:account:alice", "1-2"],
    ["HSET", "belfry:{1.1}:roster:server:1", "m7", "another"],
    ["SADD", "belfry:words", "one more"],
    ["SREM", "belfry:{2.1}:read:carol", "382402239304294400"],
    ["ZADD", "belfry:scores", "3.25", "member 7"],
    ["RPUSH", "belfry:list", "one more"],
    ["SET", "belfry:text", "54321"],
    ["PEXPIRE", "belfry:list", "100000"],
    ["PERSIST", "belfry:expiring"],
    ["DEL", "belfry:fewWords"],
    ["SET", "belfry:new", "1"],
  ])
  func whatDiffersIsFoundAndTheKeyspaceGivenBack(change: [String]) async throws {
    // In both forms of the comparison, and on both sides.
    for (compression, changesSource) in [("yes", true), ("no", true), ("no", false)] {
      // A key that is new at the source is not among the keys that are moved.
      if change[1] == "belfry:new", changesSource { continue }
      try await withTwo(["rdbcompression": compression]) { source, target in
        let once = Once()
        let refused = await refusal {
          try await move(source.url, to: target.url) { progress in
            guard case .copied = progress else { return }
            once { try (changesSource ? source : target).command(change) }
          }
        }
        #expect(refused?.code == "countsDiffer", "\(change) \(refused.debugDescription)")
        #expect(refused?.cause.contains(change[1]) == true, "\(refused.debugDescription)")
        #expect(refused?.advice?.contains("the keyspace was given back") == true)
        let (format, left) = (try source.format, try target.keys("belfry:*"))
        #expect(format == "3 64")
        #expect(left == [])
      }
    }
  }

  @Test func whatExpiresMeanwhileIsNoDifference() async throws {
    let clock = try await ShiftedClock()
    try await withTwo(clock: clock) { source, target in
      try source.addExpiring(milliseconds: 600_000)
      let once = Once()
      let report = try await move(source.url, to: target.url) { progress in
        guard case .copied = progress else { return }
        once { try clock.step(bySeconds: 700) }
      }
      #expect(report.expired == 5)
      #expect(try target.keys("belfry:*").count == report.compared + 1)
    }
  }

  @Test func allConnectionsToTheSourceAreClosed() async throws {
    var options = RedisServer.Options.debuggable()
    options.listensOnTCP = true
    try await withRedisServer(options) { source in
      try source.fillMovedKeyspace()
      try await withRedisServer(.debuggable()) { target in
        let other = try RawConnection(port: try #require(source.port), tls: nil)
        _ = other.send(Array("PING\r\n".utf8))
        #expect(try other.readLine() == "+PONG")
        _ = try await move(source.url, to: target.url)
        #expect(other.ends())
      }
    }
  }

  // MARK: Several commands

  @Test func whileOneWorksAnotherIsRefused() async throws {
    try await withTwo { source, target in
      let refused = Refusals()
      let (from, to) = (source.url, target.url)
      let report = try await move(from, to: to) { progress in
        guard case .paused = progress else { return }
        for isCancel in [false, true] {
          // This runs on its own thread, because the progress is reported on one of Swift's.
          let thread = DispatchGroup()
          thread.enter()
          Thread.detachNewThread {
            let done = DispatchSemaphore(value: 0)
            Task {
              refused.add(await refusal { try await move(from, to: to, isCancel: isCancel) }?.code ?? "none")
              done.signal()
            }
            done.wait()
            thread.leave()
          }
          thread.wait()
        }
      }
      #expect(report.outcome == .moved)
      #expect(refused.values == ["moveUnderWay", "moveUnderWay"])
    }
  }

  private final class Refusals: @unchecked Sendable {
    private let lock = NSLock()
    private var codes: [String] = []
    func add(_ code: String) { lock.withLock { codes.append(code) } }
    var values: [String] { lock.withLock { codes } }
  }
}
