import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// The feed over WebSockets, between brokers that come and go.
  @Suite struct Sockets {
    private func open(_ person: Person, at broker: Broker, after cursor: String?) throws -> RawSocket {
      let query = cursor.map { "?after=\($0)" } ?? ""
      return try RawSocket(
        port: broker.port, path: "/v1/socket" + query, headers: person.headers.map { ($0.key, $0.value) },
        tls: TestTLS.shared?.context)
    }

    /// The bodies until the socket ends, or until there are enough, and the cursor after them.
    private func hear(_ socket: RawSocket, upTo count: Int) throws -> (bodies: [String], cursor: String?) {
      var (bodies, cursor): ([String], String?) = ([], nil)
      while bodies.count < count {
        guard case .text(let text) = try socket.hear() else { break }
        let frame = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
        guard let notification = frame["notification"] as? [String: Any] else { continue }
        bodies.append(notification["body"] as? String ?? "")
        cursor = frame["cursor"] as? String ?? cursor
      }
      return (bodies, cursor)
    }

    @Test func killedAndResumedElsewhereNothingIsLostOrComesTwice() async throws {
      try await withWorld(brokers: 2) { world in
        let app = try Person.app(at: world[1])
        let reader = try Person("reader", at: world[0])
        var (seen, cursor): ([String], String?) = ([], nil)
        for round in 0..<4 {
          let socket = try open(reader, at: world[0], after: cursor)
          for number in 0..<20 { try app.mustSend("\(round).\(number)", ["toAccids": ["reader"]]) }
          let before = try hear(socket, upTo: 7)
          await world[0].kill()
          let rest = try hear(socket, upTo: 20)
          (seen, cursor) = (seen + before.bodies + rest.bodies, rest.cursor ?? before.cursor ?? cursor)
          let elsewhere = try open(reader, at: world[1], after: cursor)
          let left = try hear(elsewhere, upTo: 20 - before.bodies.count - rest.bodies.count)
          (seen, cursor) = (seen + left.bodies, left.cursor ?? cursor)
          try await world[0].start()
        }
        #expect(seen == (0..<4).flatMap { round in (0..<20).map { "\(round).\($0)" } })
      }
    }
  }
}
