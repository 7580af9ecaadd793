import BelfryModel
import ModelSamples
import TestKit

@testable import BelfryRedis
@testable import BelfryStore

extension FuzzTarget {
  /// The answers and messages of Redis, and the texts that clients hand back.
  static let store: [FuzzTarget] = [
    FuzzTarget("message id, as bytes", sample: { Array($0.messageID().streamForm.utf8) }) { bytes in
      let id = MessageID(streamBytes: bytes[...])
      guard id == MessageID(streamForm: String(decoding: bytes, as: UTF8.self)) else {
        throw Wrong("as bytes it is \(id?.text ?? "nothing"), as text it is not")
      }
      return id != nil
    },
    FuzzTarget("live message", sample: { $0.liveMessage() }) {
      LiveMessage.all(in: $0[...], from: "d4c0ffee") != nil
    },
    FuzzTarget("open stream", sample: { $0.streamLine() }) { bytes in
      StreamLine(String(decoding: bytes, as: UTF8.self)[...]) != nil
    },
    text("cursor of a listing", { $0.tableScan() }, read: { TableScan(text: $0) }, write: { $0.text }),
    FuzzTarget("replies of Redis", sample: { $0.reply(depth: 3) }) { bytes in
      let whole = replies(bytes, inPiecesOf: max(1, bytes.count))
      guard replies(bytes, inPiecesOf: 3) == whole else {
        throw Wrong("in pieces it is not what it is as a whole")
      }
      return whole.error == nil && !whole.replies.isEmpty
    },
    FuzzTarget("URL of a Redis", sample: { Array($0.redisURL().utf8) }) { bytes in
      (try? RedisEndpoint(url: String(decoding: bytes, as: UTF8.self))) != nil
    },
  ]

  private struct Replies: Equatable {
    var replies: [RedisReply] = []
    var error: RedisError.Code?
  }

  private static func replies(_ bytes: [UInt8], inPiecesOf size: Int) -> Replies {
    let parser = ReplyParser(replyBytesMax: 1 << 20)
    var answer = Replies()
    do throws(RedisError) {
      for start in stride(from: 0, to: bytes.count, by: size) {
        try parser.feed(bytes[start..<min(start + size, bytes.count)])
        while try parser.readReply() { answer.replies.append(parser.takeReply()) }
      }
    } catch {
      answer.error = error.code
    }
    return answer
  }
}

extension SeededGenerator {
  fileprivate mutating func liveMessage() -> [UInt8] {
    let (id, entry) = (
      messageID().streamForm, "\n\(audience().text)\n" + String(decoding: contentJSON(), as: UTF8.self)
    )
    let text =
      switch below(9) {
      case 8: "ended \(pick(["replaced phone", "replaced *", "ended *"]))\na.0-1 a.0-2"
      case 7: "run \(firstOfTwo().streamForm) \(messageID().streamForm) 2\(entry)\n{}"
      case 0: "appended \(id) \(messageID().streamForm)\(entry)"
      case 1: "ephemeral \(id)\(entry)"
      case 2:
        "updated \(id) \(messageID().streamForm) \(messageID().streamForm) \(below(1_000))\(entry)"
      case 3: "memberships\n" + accounts().map(\.text).joined(separator: " ")
      case 4:
        LiveText.read(
          ReadEcho(
            items: [messageID()], watermarks: [messageID()], upTo: nil, device: DeviceID("phone"),
            version: Int64(below(3))))
      case 5: LiveText.device(deviceEcho())
      default: "index"
      }
    return Array((pick(["", "from d4c0ffee\n", "from 0\n"]) + text).utf8)
  }

  fileprivate mutating func streamLine() -> [UInt8] {
    let end = pick(["", " ended *", " replaced *", " replaced desk"])
    return Array("k3j9x2.0-17 k3j9x2.0.1 \(below(1_000)) \(pick(["phone", "*"])) ::1\(end)".utf8)
  }

  /// An id with one after it in its millisecond, as the first of a run has.
  private mutating func firstOfTwo() -> MessageID {
    MessageID(unixMilliseconds: 1_763_700_000_000, partition: partition(), sequence: Int64(below(4_095)))
  }

  private mutating func deviceEcho() -> DeviceEcho {
    DeviceEcho(
      account: account(), device: oneIn(2) ? DeviceID("phone") : nil,
      operation: OperationName(pick(NotificationType.Scene.allCases), pick(["mute", "setListener"])),
      target: .object(["groupId": .string(entityID().text), "x": json()]))
  }

  fileprivate mutating func tableScan() -> TableScan {
    var scan = TableScan()
    scan.cursor = next()
    for _ in 0..<below(3) { scan = scan.isCut(after: account().text, count: 1 + below(100), next: next()) }
    return scan
  }

  fileprivate mutating func reply(depth: Int) -> [UInt8] {
    switch below(depth > 0 ? 6 : 5) {
    case 0: return Array("+OK\r\n".utf8)
    case 1: return Array("-ERR no\r\n".utf8)
    case 2: return Array(":\(Int64(bitPattern: next()))\r\n".utf8)
    case 3: return Array("$-1\r\n".utf8)
    case 4:
      let text = text()
      return Array("$\(text.utf8.count)\r\n\(text)\r\n".utf8)
    default:
      let count = below(4)
      return Array("*\(count)\r\n".utf8) + (0..<count).flatMap { _ in reply(depth: depth - 1) }
    }
  }

  fileprivate mutating func redisURL() -> String {
    pick([
      "redis://localhost", "redis://:word@127.0.0.1:6379/1", "redis://user:p%40ss@[::1]:6380",
      "unix:///run/redis.sock", "unix://user:word@/run/redis.sock?db=2",
    ])
  }
}
