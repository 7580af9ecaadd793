import BelfryBytes
import BelfryModel
import ModelSamples

@testable import BelfryInterface
@testable import BelfryServer

extension FuzzTarget {
  /// The bodies and queries that routes read. A refusal names the field, in words short enough to answer
  /// with.
  static let requests: [FuzzTarget] =
    declaredBodies + [
      body(
        "body of a send",
        [
          #"{"serverId":"7","channelId":"8","toAccids":["a","b"],"type":100,"toType":4,"body":"é\n🔔","ext":"{}"}"#,
          #"{"toAccids":["a"],"attach":{"x":[1,2.5,null]},"pushPayload":{"k":"v"},"setting":{"pushEnable":true}}"#,
          #"{"serverId":7,"messageClientId":"m","fromNick":"n","status":10001,"pushContent":"p","env":"e"}"#,
        ]
      ) { bytes throws(Refusal) in
        let request = try SendRequest(ObjectFields(of: bytes))
        _ = try SendNotification.sends(
          request.content, by: Actor(account: AccountID("alice"), isTrusted: true), generatedClientId: "g")
      },
      query("query of a feed", ["limit=10", "after=2.1", "wait=5"], NotificationRoutes.page.route),
      query("query of a list", ["limit=10", "cursor=77"], ServerRoutes.list.route),
      FuzzTarget(
        "lines of a batch", sample: { Array($0.pick(["a\nb\n", "\r\n\n\n", "x", "{}\r\n{}"]).utf8) }
      ) {
        bytes in
        let lines = Lines.split(bytes, most: .max)
        let newlines = bytes.count { $0 == UInt8(ascii: "\n") }
        guard lines.count == newlines || lines.count == newlines + 1 else {
          throw Wrong("\(newlines) line ends make \(lines.count) lines")
        }
        guard lines.allSatisfy({ !bytes[$0].contains(UInt8(ascii: "\n")) }) else {
          throw Wrong("a line has a line end inside")
        }
        return !lines.isEmpty
      },
    ]

  private static func query(_ name: String, _ samples: [String], _ route: Route) -> FuzzTarget {
    let handler = Handlers.all.first { $0.route === route }
    return FuzzTarget(name, sample: { Array($0.pick(samples).utf8) }) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      let parts = text.parts(between: "=", most: 2).map { UTF8Text($0) }
      return try answers { () throws(Refusal) in
        var request = RequestParts(query: [(parts[0], parts.count > 1 ? parts[1] : "")])
        _ = try handler?.prepare(&request)
      }
    }
  }

  /// All fields that routes declare: bodies that were good before they were changed.
  private static let declaredBodies: [FuzzTarget] = Handlers.all.compactMap { handler in
    let route = handler.route
    guard !route.body.isReadByHandler, let shape = route.body.shape else { return nil }
    let samples = [true, false].map {
      String(decoding: JSONText.bytes(of: shape.example(withOptional: $0 ? nil : [])), as: UTF8.self)
    }
    return body("body of \(route.verb.rawValue) \(route.path)", samples) { bytes throws(Refusal) in
      var parts = RequestParts(path: route.examplePath, query: route.exampleQuery, body: bytes)
      _ = try handler.prepare(&parts)
    }
  }

  private static func body(
    _ name: String, _ samples: [String], _ read: @escaping @Sendable ([UInt8]) throws(Refusal) -> Void
  ) -> FuzzTarget {
    FuzzTarget(name, sample: { Array($0.pick(samples).utf8) }) { bytes in
      try answers { () throws(Refusal) in try read(bytes) }
    }
  }

  /// Whether the read succeeds; what it refuses must make an answer.
  private static func answers(_ read: () throws(Refusal) -> Void) throws -> Bool {
    do throws(Refusal) {
      try read()
      return true
    } catch {
      let problem = Problem(error)
      guard (400..<500).contains(problem.status), problem.detail.utf8.count < 2_048,
        (problem.field ?? "").utf8.count < 4_096
      else { throw Wrong("\(problem) is no answer to give") }
      return false
    }
  }
}
