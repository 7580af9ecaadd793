import BelfryModel
import ModelSamples

@testable import BelfryServer

extension FuzzTarget {
  /// The bodies and queries that routes read. What is refused names the field, in words short enough to answer
  /// with.
  static let requests: [FuzzTarget] = [
    body(
      "body of a send",
      [
        #"{"serverId":"7","channelId":"8","toAccids":["a","b"],"type":100,"toType":4,"body":"é\n🔔","ext":"{}"}"#,
        #"{"toAccids":["a"],"attach":{"x":[1,2.5,null]},"pushPayload":{"k":"v"},"setting":{"pushEnable":true}}"#,
        #"{"serverId":7,"messageClientId":"m","fromNick":"n","status":10000,"pushContent":"p","env":"e"}"#,
      ]
    ) { bytes throws(Refusal) in
      let request = try SendRequest(Fields(of: bytes))
      _ = try SendNotification.sends(
        request.content, by: Actor(account: AccountID("alice"), isTrusted: true), generatedClientId: "g")
    },
    body("body of an update", [#"{"body":"b","ext":"e","status":10000}"#]) { bytes throws(Refusal) in
      _ = try UpdateRequest(Fields(of: bytes))
    },
    body(
      "body of a mark-read", [#"{"items":[{"messageServerId":"5","type":1}]}"#, #"{"upTo":"5"}"#]
    ) { bytes throws(Refusal) in _ = try ReadRequest(Fields(of: bytes)) },
    body(
      "body of a new server", [#"{"name":"n","icon":"i","ext":"e","inviteMode":0,"applyMode":1}"#]
    ) { bytes throws(Refusal) in _ = try CreateServerRequest(Fields(of: bytes)) },
    body("body of new members", [#"{"accids":["a","b"]}"#]) { bytes throws(Refusal) in
      _ = try AddMembersRequest(Fields(of: bytes))
    },
    body(
      "body of a new channel", [#"{"name":"n","type":"private","membership":"roster","members":["a"]}"#]
    ) { bytes throws(Refusal) in _ = try CreateChannelRequest(Fields(of: bytes)) },
    body("query", ["limit=10", "after=1.0", "wait=5", "account=a", "cursor=77"]) { bytes throws(Refusal) in
      let text = String(decoding: bytes, as: UTF8.self)
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let query = try Query(
        [(parts[0], parts.count > 1 ? parts[1] : "")],
        known: ["limit", "after", "wait", "account", "cursor"])
      _ = try query.integer("limit", in: 1...500, otherwise: 1)
      _ = try query.integer("wait", in: 0...60, otherwise: 0)
      _ = try query.feedCursor("after")
      _ = try query.account("account")
      _ = try query.entity("cursor")
    },
    FuzzTarget("lines of a batch", sample: { Array($0.pick(["a\nb\n", "\r\n\n\n", "x", "{}\r\n{}"]).utf8) }) {
      bytes in
      let lines = Lines.split(bytes)
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

  private static func body(
    _ name: String, _ samples: [String], _ read: @escaping @Sendable ([UInt8]) throws(Refusal) -> Void
  ) -> FuzzTarget {
    FuzzTarget(name, sample: { Array($0.pick(samples).utf8) }) { bytes in
      do throws(Refusal) {
        try read(bytes)
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
}
