import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// The memory and the descriptors that callers make a broker hold.
  @Suite struct Holding {
    private static let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 0x78, count: 0x10000) + [13, 10]
    private static let megabytes = 1_024

    /// A person with five hundred unread notifications of twelve kilobytes, the owner of the server, and the
    /// server.
    private static func greedyWithLongPages(at broker: Broker) throws -> (Person, Person, String) {
      let (owner, app) = (try Person("owner", at: broker), try Person.app(at: broker))
      let server = try owner.createServer()
      try app.add(["greedy"], to: server)
      let long = String(repeating: "x", count: 4_000)
      let line = #"{"serverId":"\#(server)","body":"\#(long)","ext":"\#(long)","attach":"\#(long)"}"#
      let sent = try Wire(port: broker.port).request(
        "POST", "/v1/notifications/batch",
        headers: app.headers.merging(["Content-Type": "application/x-ndjson"]) { $1 },
        body: Array(repeatElement(line, count: 500).joined(separator: "\n").utf8))
      try #require(sent.status == 200)
      return (try Person("greedy", at: broker), owner, server)
    }

    /// Endless bodies from a client without a token, to a place that takes no body.
    @Test func bodiesThatNobodyAskedForAreNotKept() async throws {
      try await withWorld { world in
        let broker = world[0]
        let before = broker.residentKiB
        concurrently(20) { number in
          guard let wire = try? Wire(port: broker.port, timeoutSeconds: 5) else { return }
          let path = number % 2 == 0 ? "/healthz" : "/nothing/here"
          try? wire.writeRequest("GET", path, headers: ["Transfer-Encoding": "chunked"])
          for _ in 0..<200 { guard (try? wire.write(Self.chunk)) != nil else { break } }
          let answer = try? wire.readAnswer()
          #expect(answer.map { [404, 413].contains($0.status) } ?? true)
        }
        let grown = broker.peakKiB - before
        #expect(grown < 20 * Self.megabytes, "grew by \(grown) KiB")
        let health = try Wire(port: broker.port).request("GET", "/healthz")
        #expect(health.status == 200)
      }
    }

    /// One account sends two dozen batches of 8 MiB and ends none of them.
    @Test func unfinishedBatchesOfOneAccountAreBounded() async throws {
      try await withWorld { world in
        let broker = world[0]
        let greedy = try Person("greedy", at: broker)
        let modest = try Person("modest", at: broker)
        let server = try modest.createServer()
        let before = broker.residentKiB
        let headers = greedy.headers.merging(["Content-Type": "application/x-ndjson"]) { $1 }
        let wires = try (0..<24).map { _ in try Wire(port: broker.port, timeoutSeconds: 5) }
        // Nil: the request was refused, but the answer was lost, because the broker stopped reading and the
        // connection was reset.
        let refusals = Box<Int?>()
        let (isOver, threads) = (Flag(), DispatchGroup())
        for number in 0..<24 {
          threads.enter()
          Thread.detachNewThread {
            defer { threads.leave() }
            try? wires[number].writeRequest(
              "POST", "/v1/notifications/batch",
              headers: headers.merging(["Content-Length": "\(8 << 20)"]) { $1 })
            // More bytes are missing in the end than the broker waits for before it refuses.
            for _ in 0..<120 {
              guard (try? wires[number].write([UInt8](repeating: 10, count: 65_536))) != nil else { break }
            }
            // The accepted clients wait for the rest, until they are cut.
            wires[number].setTimeout(seconds: 120)
            if let answer = try? wires[number].readAnswer() {
              refusals.add(answer.status)
            } else if !isOver.isSet, wires[number].ends() {
              refusals.add(nil)
            }
          }
        }
        defer {
          isOver.set()
          for wire in wires { wire.cut() }
          threads.wait()
        }
        try await eventually("too few are refused") { refusals.values.count >= 20 }
        let grown = broker.peakKiB - before
        #expect(grown < 48 * Self.megabytes, "grew by \(grown) KiB")
        #expect(Set(refusals.values.compactMap(\.self)) == [429])
        #expect(try modest.send("hello", ["serverId": server]).status == 201)
      }
    }

    @Test func aBatchOfNothingButLineEndsIsCheap() async throws {
      try await withWorld { world in
        let broker = world[0]
        let person = try Person("alice", at: broker)
        let before = broker.residentKiB
        let headers = person.headers.merging(["Content-Type": "application/x-ndjson"]) { $1 }
        let answer = try Wire(port: broker.port).request(
          "POST", "/v1/notifications/batch", headers: headers, body: [UInt8](repeating: 10, count: 8 << 20))
        #expect(answer.status == 422)
        let grown = broker.peakKiB - before
        #expect(grown < 24 * Self.megabytes, "grew by \(grown) KiB")
      }
    }

    /// One account asks for two dozen long pages and reads none of them.
    @Test func pagesThatNobodyReadsAreBounded() async throws {
      try await withWorld { world in
        let broker = world[0]
        let (greedy, _, _) = try Self.greedyWithLongPages(at: broker)

        let path = "/v1/notifications?limit=500"
        func ask() throws -> (Wire, Int) {
          let wire = try Wire(port: broker.port, receiveBytes: 4_096)
          try wire.writeRequest("GET", path, headers: greedy.headers)
          return (wire, try wire.readHead().status)
        }
        var wires = [try ask()]
        #expect(wires[0].1 == 200)
        let before = broker.residentKiB
        for _ in 0..<23 { wires.append(try ask()) }
        #expect(wires.contains { $0.1 == 429 })
        let grown = broker.residentKiB - before
        #expect(grown < 32 * Self.megabytes, "grew by \(grown) KiB")
        // A client that has read its answer, or has left, may send again.
        wires = []
        try await eventually(every: .milliseconds(50)) { try greedy.call("GET", path).status == 200 }
      }
    }

    /// Bodies and batches that do not end, and parallel pages and streams that nobody reads: all of them at
    /// once, and other clients are served.
    @Test func allTogetherStayBelow300MB() async throws {
      try await withWorld { world in
        let broker = world[0]
        let (greedy, owner, server) = try Self.greedyWithLongPages(at: broker)
        let lines = ["Content-Type": "application/x-ndjson"]

        let attacks = 4 * 24
        let wires = try (0..<attacks).map { _ in
          try Wire(port: broker.port, timeoutSeconds: 3, receiveBytes: 4_096)
        }
        concurrently(attacks) { number in
          let wire = wires[number]
          switch number % 4 {
          case 0:
            try? wire.writeRequest("GET", "/healthz", headers: ["Transfer-Encoding": "chunked"])
            for _ in 0..<200 { guard (try? wire.write(Self.chunk)) != nil else { break } }
          case 1:
            let headers = greedy.headers.merging(lines) { $1 }.merging(["Content-Length": "\(8 << 20)"]) {
              $1
            }
            try? wire.writeRequest("POST", "/v1/notifications/batch", headers: headers)
            for _ in 0..<127 {
              guard (try? wire.write([UInt8](repeating: 10, count: 65_536))) != nil else { break }
            }
          case 2: try? wire.writeRequest("GET", "/v1/notifications?limit=500", headers: greedy.headers)
          default: try? wire.writeRequest("GET", "/v1/notifications/stream", headers: greedy.headers)
          }
        }
        try await Task.sleep(for: .seconds(2))
        #expect(try owner.send("still here", ["serverId": server]).status == 201)
        #expect(broker.peakKiB < 300 * Self.megabytes, "\(broker.peakKiB) KiB")
        for wire in wires { wire.cut() }
      }
    }

    /// With few descriptors, connections that wait for nothing make room. If there are none, clients wait.
    /// They are served when others end, and no loop spins meanwhile.
    @Test func descriptorsThatRunOutAreWaitedFor() async throws {
      try await withRedisServer { redis in
        let broker = try Broker(redisURL: redis.url, descriptors: 64)
        try await broker.start()
        let person = try Person("alice", at: broker)
        var wires: [Wire] = []
        var (open, refused) = (0, 0)
        for _ in 0..<60 {
          let wire = try Wire(port: broker.port)
          try wire.writeRequest("GET", "/v1/notifications/stream", headers: person.headers)
          switch try? wire.readHead().status {
          case 200: open += 1
          case 503: refused += 1
          case let status: throw Wire.Failure(description: "\(String(describing: status)): \(broker.log)")
          }
          wires.append(wire)
        }
        #expect(open >= 8)
        #expect(refused > 0)
        #expect(!broker.log.contains(" new connections wait until others end "))
        // A client that cannot connect is not counted: on a busy machine one of the first may be too late.
        func someWait() -> Bool { broker.log.contains(" new connections wait until others end ") }
        var tries = 0
        while tries < 60 || !someWait() {
          try #require(tries < 600, "nobody has to wait: \(broker.log)")
          tries += 1
          guard let wire = try? Wire(port: broker.port, timeoutSeconds: 1) else {
            if someWait() { break }
            continue
          }
          let poller = try Person("poller\(tries)", at: broker)
          try wire.writeRequest("GET", "/v1/notifications?wait=60", headers: poller.headers)
          wires.append(wire)
        }
        let (before, began) = (broker.processorTicks, ContinuousClock.now)
        try await Task.sleep(for: .seconds(3))
        let (ticks, passed) = (
          broker.processorTicks - before, (ContinuousClock.now - began) / .milliseconds(10)
        )
        #expect(Double(ticks) < passed / 10, "\(ticks) hundredths of a second in \(passed)")

        for wire in wires { wire.cut() }
        for _ in 0..<20 {
          #expect(try Wire(port: broker.port).request("GET", "/healthz").status == 200)
        }
        let log = broker.log
        #expect(log.contains(" from the file descriptors that this process may open limit=64 "))
        // At most one line for each loop.
        #expect(
          (1...2).contains(log.ranges(of: #/ new connections wait until others end loop=\d+ /#).count),
          "\(log)")
        #expect(!log.contains("redis lost"), "\(log)")
        await broker.remove()
      }
    }
  }
}
