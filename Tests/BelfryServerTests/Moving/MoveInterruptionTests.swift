import BelfryRedis
import BelfryStore
import TestKit
import Testing

@testable import BelfryServer

/// Moves that did not come to their end.
@Suite(.timeLimit(.minutes(3))) struct MoveInterruptionTests {
  /// The points at which a command may have ended, as the records show them.
  private enum Interruption: CaseIterable {
    case named, claimed, paused, copied, decided, opened
    /// The source has lost its latest record.
    case forgotten
  }

  private func interrupt(_ source: RedisServer, _ target: RedisServer, at place: Interruption) throws {
    func text(_ stage: MoveRecord.Stage) -> String {
      MoveRecord(stage, format: "3 64", id: "abc", since: 1, other: "redis://other:6379").text
    }
    try source.command("HSET", "belfry:format", "move", "abc")
    if place == .named { return }
    try target.setFormat(text(.arriving), move: "abc")
    if place == .claimed { return }
    try source.setFormat(text(.moving))
    if place == .paused { return }
    if place == .copied {
      // One key is there already, and one has a wrong value.
      try target.command("SET", "belfry:text", "12345")
      try target.command("SET", "belfry:list", "stale")
      return
    }
    for key in try source.keys("belfry:*") where key != "belfry:format" {
      try target.command("SET", key, "as if copied")
    }
    if place != .forgotten { try source.setFormat(text(.moved)) }
    if place != .decided { try target.setFormat("3 64", move: "abc") }
  }

  @Test func theSameCommandGoesOn() async throws {
    for place in Interruption.allCases {
      try await withTwo { source, target in
        let values = try source.values
        try interrupt(source, target, at: place)
        let report = try await move(source.url, to: target.url)
        #expect(try source.format.hasPrefix("moved 3 64 "), "\(place)")
        #expect(try target.format == "3 64", "\(place)")
        switch place {
        case .decided, .opened, .forgotten: #expect(report.outcome == .movedBefore, "\(place)")
        default:
          #expect(report.outcome == .moved, "\(place)")
          #expect(try target.values == values, "\(place)")
          #expect(report.copied == values.count - (place == .copied ? 1 : 0), "what is equal stays: \(place)")
        }
      }
    }
  }

  @Test func orItIsCancelled() async throws {
    for place in Interruption.allCases {
      try await withTwo { source, target in
        try interrupt(source, target, at: place)
        let refused = await refusal { try await move(source.url, to: target.url, isCancel: true) }
        switch place {
        case .opened, .forgotten:
          #expect(refused?.code == "nothingToCancel")
          #expect(try source.format != "3 64")
        case .named:
          #expect(refused?.code == "nothingToCancel", "nothing was claimed")
        default:
          #expect(refused == nil, "\(place) \(refused.debugDescription)")
          #expect(try source.format == "3 64", "\(place)")
          #expect(try target.keys("belfry:*") == [], "\(place)")
          #expect(try await move(source.url, to: target.url).outcome == .moved, "and it can be done again")
        }
      }
    }
  }

  @Test func withoutTheTargetItIsCancelledUnlessItMayBeOpen() async throws {
    for place in [Interruption.copied, .decided] {
      try await withTwo { source, target in
        try interrupt(source, target, at: place)
        let away = "redis://127.0.0.1:\(try findFreePort())"
        for url in [nil, away] {
          if place == .copied {
            try source.setFormat(MoveRecord(.moving, format: "3 64", id: "abc", since: 1, other: "x").text)
          }
          let refused = await refusal { try await move(source.url, to: url, isCancel: true) }
          #expect((refused?.code == "nothingToCancel") == (place == .decided))
          #expect(try (source.format == "3 64") == (place == .copied))
        }
        guard place == .copied else { return }
        // The next move removes the remains at the target.
        let report = try await move(source.url, to: target.url)
        #expect(report.copied == report.compared)
        #expect(try target.values == source.values)
      }
    }
  }

  /// The source's append-only file lost its tail, so its record is that of before the move.
  @Test(arguments: [nil, "earlier"]) func aMoveThatTheSourceHasForgottenIsCancelled(_ earlier: String?)
    async throws
  {
    try await withTwo { source, target in
      if let earlier { try source.command("HSET", "belfry:format", "move", earlier) }
      let record = try source.command("HGETALL", "belfry:format")
      let place = try RedisEndpoint(backup: source.url).description
      let claim = MoveRecord(.arriving, format: "3 64", id: "abc", since: 1, other: place)
      try target.setFormat(claim.text, move: "abc")
      try target.command("SET", "belfry:text", "12345")
      let again = await refusal { try await move(source.url, to: target.url) }
      #expect(again?.code == "moveUnderWay")
      #expect(again?.advice?.contains("with --cancel") == true, "\(again.debugDescription)")
      let unnamed = await refusal { try await move(source.url, to: nil, isCancel: true) }
      #expect(unnamed?.advice?.contains("--to") == true, "\(unnamed.debugDescription)")

      let report = try await move(source.url, to: target.url, isCancel: true)
      #expect(report.outcome == .cancelled && report.remarks == [])
      #expect(try source.command("HGETALL", "belfry:format") == record)
      #expect(try target.keys("belfry:*") == [])
      #expect(try await move(source.url, to: target.url).outcome == .moved)
    }
  }

  /// Another keyspace's move to the same target goes on.
  @Test func theMoveOfAnotherSourceIsNotCancelled() async throws {
    try await withTwo { source, target in
      let claim = MoveRecord(.arriving, format: "3 64", id: "abc", since: 1, other: "redis://other:6379")
      try target.setFormat(claim.text, move: "abc")
      let refused = await refusal { try await move(source.url, to: target.url, isCancel: true) }
      #expect(refused?.code == "nothingToCancel")
      #expect(try target.format == claim.text)
    }
  }

  // MARK: Failures on the way

  @Test func aSourceThatDiesStaysPausedUntilItIsDecided() async throws {
    for isCancel in [false, true] {
      try await withRedisServer(.debuggable(.always)) { source in
        try source.fillMovedKeyspace()
        let values = try source.values
        try await withRedisServer(.debuggable()) { target in
          let once = Once()
          let refused = await refusal {
            try await move(source.url, to: target.url) { progress in
              guard case .copied = progress else { return }
              once { try source.crash() }
            }
          }
          #expect(refused?.code == "redisFailed")
          #expect(
            refused?.advice?.contains("run belfry move again to finish the move") == true,
            "\(refused.debugDescription)")
          await source.kill()
          try await source.start()
          let paused = try source.format
          #expect(paused.hasPrefix("moving 3 64 "))
          let report = try await move(source.url, to: target.url, isCancel: isCancel)
          #expect(report.outcome == (isCancel ? .cancelled : .moved))
          let (format, found, left) = (try source.format, try target.values, try target.keys("belfry:*"))
          #expect((format == "3 64") == isCancel)
          if isCancel { #expect(left == []) } else { #expect(found == values) }
        }
      }
    }
  }

  @Test func aTargetWithoutTheMemoryInTheEndGivesItBack() async throws {
    try await withTwo { source, target in
      try source.command("DEBUG", "POPULATE", "5000", "belfry:x", "1000")
      let once = Once()
      let refused = await refusal {
        try await move(source.url, to: target.url) { progress in
          guard case .paused = progress else { return }
          once { try target.command("CONFIG", "SET", "maxmemory", "3mb") }
        }
      }
      #expect(
        refused?.advice?.contains("more memory than maxmemory leaves") == true, "\(refused.debugDescription)")
      let (format, left) = (try source.format, try target.keys("*"))
      #expect(format == "3 64")
      #expect(left == [])
    }
  }

  /// The replicas have the keys, and the disks have them.
  @Test func whatWasMovedOutlivesTheMastersOfTheTarget() async throws {
    var options = RedisServer.Options.debuggable(.everysec)
    options.settings["min-replicas-to-write"] = "1"
    try await withRedisServer(.debuggable(.everysec)) { source in
      try source.fillMovedKeyspace()
      let values = try source.digests
      try await withRedisCluster(masters: 3, replicas: true, options) { cluster in
        let report = try await move(source.url, to: cluster.url)
        #expect(report.outcome == .moved && report.remarks == [])
        // The masters are killed at once, by SIGKILL. The replicas have everything.
        for node in cluster.masters { await node.kill() }
        var found: [String: String] = [:]
        for number in 0..<3 {
          for (key, value) in try cluster.replica(of: number).digests { found[key] = value }
        }
        #expect(found == values)
      }
      await source.kill()
      try await source.start()
      let format = try source.format
      #expect(format.hasPrefix("moved 3 64 "))
    }
  }
}
