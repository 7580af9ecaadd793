import BelfryBytes
import BelfryModel
import ModelSamples
import TestKit

@testable import BelfryClient
@testable import BelfryHTTP
@testable import BelfryServer

extension FuzzTarget {
  /// The bytes that come over WebSockets, from either side.
  static let sockets: [FuzzTarget] = [
    FuzzTarget("frames of a client", sample: { $0.clientFrames() }) { bytes in
      let whole = steps(bytes, inPiecesOf: max(1, bytes.count))
      for size in [1, 2, 7, 64] where steps(bytes, inPiecesOf: size) != whole {
        throw Wrong("in pieces of \(size) it is not what it is as a whole")
      }
      for case .text(let text) in whole where (try? UTF8Span(validating: text.span)) == nil {
        throw Wrong("a text was taken that is no UTF-8")
      }
      if case .refused? = whole.last { return false }
      return !whole.isEmpty
    },
    FuzzTarget("message of a client", sample: { $0.socketMessage() }) { bytes in
      guard (try? UTF8Span(validating: bytes.span)) != nil else { return false }
      let members = try? JSONParser.members(of: bytes, in: bytes.startIndex..<bytes.endIndex)
      guard let message = try? SocketMessage(bytes) else {
        // If a strict reader accepts the bytes as a request, they are one here, too.
        if members?.isEmpty == true { throw Wrong("an empty object was refused") }
        return false
      }
      guard case .request(let request, let id, let body) = message else { return true }
      guard let members else { return true }
      guard members.contains(where: { $0.name == UTF8Text(request.rawValue) }),
        let value = try? JSONParser.value(of: Array(bytes[body])),
        members.contains(where: { JSONText.bytes(of: $0.value) == JSONText.bytes(of: value) }),
        members.contains(where: { JSONText.bytes(of: $0.value) == Array(String(id).utf8) })
      else { throw Wrong("read strictly it is \(members), and here \(message)") }
      return true
    },
    FuzzTarget("frames of a broker", sample: { $0.brokerFrames() }) { bytes in
      let whole = items(ofFrames: bytes, inPiecesOf: max(1, bytes.count))
      guard items(ofFrames: bytes, inPiecesOf: 1) == whole else {
        throw Wrong("in pieces it is not what it is as a whole")
      }
      for case .event(let name, let data, let id) in whole ?? [] {
        _ = FeedEvent(event: name, data: data, id: id)
      }
      return whole != nil
    },
  ]

  private static func steps(_ bytes: [UInt8], inPiecesOf size: Int) -> [FrameReader.Step] {
    var reader = FrameReader(messageBytesMax: 1_000)
    var steps: [FrameReader.Step] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      var rest = bytes[start..<min(start + size, bytes.count)]
      while true {
        let step = reader.next(&rest)
        if case .incomplete = step { break }
        steps.append(step)
        if case .refused = step { return steps }
      }
    }
    return steps
  }

  private static func items(ofFrames bytes: [UInt8], inPiecesOf size: Int) -> [FeedItem]? {
    var parser = SocketFrameParser(limitBytes: 4 << 10)
    var items: [FeedItem] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      do {
        try parser.parse(bytes[start..<min(start + size, bytes.count)], into: &items)
      } catch {
        return nil
      }
    }
    return items
  }
}

extension SeededGenerator {
  fileprivate mutating func clientFrames() -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0...below(4) {
      let payload = Array(String(repeating: pick(["a", "é", "🔔", "{}"]), count: below(60)).utf8)
      let mask = UInt32(below(1 << 31))
      switch below(4) {
      case 0: bytes += RawSocket.frame(0x89, Array(payload.prefix(125)), mask: mask)
      case 1: bytes += RawSocket.frame(0x8A, Array(payload.prefix(125)), mask: mask)
      case 2:
        bytes += RawSocket.frame(0x01, Array(payload.prefix(3)), mask: mask)
        bytes += RawSocket.frame(0x80, Array(payload.dropFirst(3)), mask: mask)
      default: bytes += RawSocket.frame(0x81, payload, mask: mask)
      }
    }
    return below(3) == 0 ? bytes + RawSocket.frame(0x88, RawSocket.closing(1_000), mask: 1) : bytes
  }

  fileprivate mutating func socketMessage() -> [UInt8] {
    let body = String(decoding: contentJSON(), as: UTF8.self)
    let id = 1 + below(1 << 40)
    let word = pick(["send", "resend", "read", "subscribe", "unsubscribe", "connect"])
    let text = pick([
      #"{"id":\#(id),"\#(word)":\#(body)}"#, #" { "\#(word)" : \#(body), "id":\#(id) }"#, "{}",
    ])
    return Array(text.utf8)
  }

  fileprivate mutating func brokerFrames() -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0...below(4) {
      let text = pick([
        "{}", #"{"notification":{"body":"é"},"cursor":"2.a"}"#, #"{"read":{"upTo":"5"}}"#,
        #"{"id":0,"ok":{"pingSeconds":15,"retryMilliseconds":1000}}"#,
      ])
      bytes += RawSocket.frame(0x81, Array(text.utf8), mask: nil)
      if below(3) == 0 { bytes += RawSocket.frame(0x89, [1, 2], mask: nil) }
    }
    return bytes
  }
}
