import BelfryBytes
import BelfryModel
import BelfryStore
import ModelSamples
import TestKit

@testable import BelfryHooks

extension FuzzTarget {
  /// The texts that push keeps in Redis, and the answers of gateways.
  static let push: [FuzzTarget] = [
    FuzzTarget(
      "what push has to do",
      sample: {
        Array($0.pick(["push server:7 99 bob * 0", "push account:bob 5 bob phone 3", "badge bob * 0"]).utf8)
      }
    ) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      guard let task = PushTask(text: text) else { return false }
      guard PushTask(text: task.text) == task else { throw Wrong("written and read again it is another") }
      return true
    },
    FuzzTarget(
      "a pusher",
      sample: {
        Array(
          $0.pick([
            #"{"createdAt":5,"url":"https://push.example/","appId":"a","pushkey":"k","data":{"x":1}}"#,
            #"{"createdAt":5,"endpoint":"https://push.example/1","p256dh":"BAAA","auth":"AAAA"}"#,
          ]).utf8)
      }
    ) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      let device: DeviceID = "phone"
      guard let pusher = Pusher(PusherRecord(device: device, text: text)) else { return false }
      guard Pusher(pusher.record) == pusher else { throw Wrong("written and read again it is another") }
      return true
    },
    FuzzTarget(
      "answer of a gateway",
      sample: { Array($0.pick([#"{"rejected":[]}"#, #"{"rejected":["k","x"]}"#]).utf8) }
    ) { bytes in
      MatrixGateway(url: "https://push.example", appID: "a", pushkey: "k", data: nil)?.isRejected(by: bytes)
        != nil
    },
  ]
}
