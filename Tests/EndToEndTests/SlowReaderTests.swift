import Foundation
import Testing

extension EndToEnd {
  @Suite struct SlowReader {
    private static let count = 50_000

    /// A client stops reading while fifty thousand notifications pass, and then receives them all. Meanwhile
    /// it costs limited memory and delays nobody.
    @Test func receivesEverythingAndDelaysNobody() async throws {
      try await withWorld { world in
        let owner = try Person("owner", at: world[0])
        let app = try Person.app(at: world[0])
        let server = try owner.createServer()
        try app.add(["slow", "quick"], to: server)
        let slow = try Person("slow", at: world[0]).stream(reads: false)
        let quick = try Person("quick", at: world[0]).stream()
        try app.mustSend("begin", ["serverId": server])
        #expect(quick.wait(forBody: "begin"))
        let before = world[0].residentKiB

        let wire = try Wire(port: world[0].port)
        let headers = app.headers.merging(["Content-Type": "application/x-ndjson"]) { $1 }
        for batch in 0..<Self.count / 1_000 {
          let lines = (0..<1_000).map { #"{"serverId":"\#(server)","body":"n\#(batch * 1_000 + $0)"}"# }
          let answer = try wire.request(
            "POST", "/v1/notifications/batch", headers: headers,
            body: Array(lines.joined(separator: "\n").utf8))
          #expect(answer.status == 200)
          // Nobody waits for the slow one.
          #expect(quick.wait(seconds: 60) { $0.last?.body == "n\(batch * 1_000 + 999)" })
        }
        let after = world[0].residentKiB
        #expect(after - before < 64 * 1_024, "grew from \(before) KiB to \(after) KiB")
        slow.startReading()
        // The test waits for the count, because looking for a body would read every event again for each new
        // one.
        #expect(slow.wait(seconds: 120) { $0.count >= Self.count })
        #expect(slow.wait { $0.last?.body == "n\(Self.count - 1)" })
        #expect(slow.bodies == ["begin"] + (0..<Self.count).map { "n\($0)" })
      }
    }

    /// Notifications that were fetched for a client that reads nothing are not kept until it does. One
    /// account may have as many such streams as devices.
    @Test func thirtyThatReadNothingCostLittle() async throws {
      try await withWorld { world in
        let owner = try Person("owner", at: world[0])
        let app = try Person.app(at: world[0])
        let server = try owner.createServer()
        try app.add(["idle"], to: server)
        let wire = try Wire(port: world[0].port)
        let headers = app.headers.merging(["Content-Type": "application/x-ndjson"]) { $1 }
        let text = String(repeating: "x", count: 4_000)
        for batch in 0..<3 {
          let lines = (0..<1_000).map {
            #"{"serverId":"\#(server)","body":"n\#(batch * 1_000 + $0)","ext":"\#(text)"}"#
          }
          let answer = try wire.request(
            "POST", "/v1/notifications/batch", headers: headers,
            body: Array(lines.joined(separator: "\n").utf8))
          #expect(answer.status == 200)
        }
        let before = world[0].residentKiB
        let idle = try Person("idle", at: world[0])
        let streams = try (0..<30).map { _ in try idle.stream(reads: false) }
        try await Task.sleep(for: .seconds(3))
        let after = world[0].residentKiB
        // A sixth of the data that all of them are to receive.
        #expect(after - before < 64 * 1_024, "grew from \(before) KiB to \(after) KiB")
        // A client that finally reads receives everything, once.
        streams[29].startReading()
        #expect(streams[29].wait(seconds: 60) { $0.last?.body == "n2999" })
        #expect(streams[29].bodies == (0..<3_000).map { "n\($0)" })
      }
    }
  }
}
