import Foundation

@testable import BelfryClient

/// The bytes that a broker writes.
enum Wire {
  static func id(_ number: Int64) -> MessageID { MessageID(number) ?? .zero }

  static func notification(_ id: Int, body: String = "hello") -> String {
    #"{"messageServerId":"\#(id)","time":1767981731000,"type":100,"toType":1,"serverId":"12","fromAccount":"alice","#
      + #""body":"\#(body)","status":0}"#
  }

  static func decoded(_ id: Int) throws -> BelfryModel.Notification {
    try JSONDecoder().decode(BelfryModel.Notification.self, from: Data(notification(id).utf8))
  }

  /// One event of a stream, with the cursor `c<id>`.
  static func event(_ id: Int, body: String = "hello") -> String {
    "event: notification\nid: c\(id)\ndata: \(notification(id, body: body))\n\n"
  }

  static func receipt(_ id: Int, duplicate: Bool = false) -> String {
    #"{"messageServerId":"\#(id)","messageClientId":"m\#(id)","time":1767981731000,"duplicate":\#(duplicate)}"#
  }
}
