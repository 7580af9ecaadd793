import TestKit
import Testing

@testable import BelfryRedis

@Suite struct ReplyParserTests {
  @Test(arguments: [
    ("+OK\r\n", RedisReply.status("OK")),
    ("-ERR no\r\n", .error("ERR no")),
    (":-42\r\n", .integer(-42)),
    (":9223372036854775807\r\n", .integer(.max)),
    ("$0\r\n\r\n", .bulk([])),
    ("$4\r\n\r\n\0a\r\n", .bulk([13, 10, 0, 97])),
    ("$-1\r\n", .null),
    ("*-1\r\n", .null),
    ("*0\r\n", .array([])),
    ("*2\r\n*1\r\n*0\r\n*2\r\n:1\r\n$-1\r\n", .array([.array([.array([])]), .array([.integer(1), .null])])),
  ])
  func eachKindOfReplyIsRead(text: String, expected: RedisReply) throws {
    #expect(try parse(Array(text.utf8), pieceSize: 1_000) == [expected])
  }

  /// Any replies, cut into pieces anywhere, come out as they went in.
  @Test func repliesSurviveBeingCutAnywhere() throws {
    var numbers = SeededGenerator(seed: 42)
    for _ in 0..<500 {
      let replies = (0..<Int.random(in: 1...5, using: &numbers)).map { _ in
        RedisReply.random(depth: 4, using: &numbers)
      }
      let bytes = replies.flatMap(\.encoded)
      #expect(try parse(bytes, pieceSize: Int.random(in: 1...40, using: &numbers)) == replies)
    }
  }

  /// Random bytes, and replies with some bytes changed, end in replies or an error: never in a crash.
  @Test func rubbishNeverCrashes() {
    var numbers = SeededGenerator(seed: 7)
    let alphabet = Array("+-:$*0123456789\r\n\r\n\0a".utf8)
    var refusals = 0
    for round in 0..<20_000 {
      var bytes: [UInt8]
      switch round % 3 {
      case 0: bytes = (0..<64).map { _ in UInt8.random(in: 0...255, using: &numbers) }
      case 1: bytes = (0..<64).map { _ in alphabet.randomElement(using: &numbers) ?? 0 }
      default:
        bytes = RedisReply.random(depth: 4, using: &numbers).encoded
        for _ in 0..<3 {
          bytes[Int.random(in: 0..<bytes.count, using: &numbers)] =
            alphabet.randomElement(using: &numbers) ?? 0
        }
      }
      do {
        _ = try parse(bytes, pieceSize: Int.random(in: 1...64, using: &numbers))
      } catch {
        #expect(error.code == .malformedReply)
        refusals += 1
      }
    }
    #expect(refusals > 1_000)
  }

  @Test func announcedSizesAreNotTrusted() throws {
    let parser = ReplyParser(replyBytesMax: 100_000)
    try parser.feed(Array("*2147483647\r\n*2147483647\r\n".utf8)[...])
    #expect(try parser.next() == nil)
    #expect(throws: RedisError.self) {
      for _ in 0..<10_000 {
        try parser.feed(Array(":1\r\n:1\r\n:1\r\n".utf8)[...])
        _ = try parser.next()
      }
    }
  }

  @Test(arguments: [
    "$9223372036854775807\r\nabc", "$999999999999999999999999\r\n", "*9999999999\r\n", "$-2\r\n",
  ])
  func absurdSizesAreRefusedOrWaitedFor(text: String) {
    // Either is sound; running out of memory or past the buffer is not.
    let replies = try? parse(Array(text.utf8), pieceSize: 5)
    #expect(replies == nil || replies == [])
  }

  /// The replies to commands that were sent together share their memory, and the limit holds for each of them alone.
  @Test func repliesAreTakenTogether() throws {
    var numbers = SeededGenerator(seed: 43)
    for _ in 0..<200 {
      let replies = (0..<Int.random(in: 1...40, using: &numbers)).map { _ in
        RedisReply.random(depth: 3, using: &numbers)
      }
      let parser = ReplyParser(replyBytesMax: 10_000)
      try parser.feed(replies.flatMap(\.encoded)[...])
      for _ in replies { #expect(try parser.readReply()) }
      #expect(try !parser.readReply())
      let taken = parser.takeReplies()
      #expect(Array(taken) == replies)
      #expect(taken.indices.allSatisfy { taken[$0] == replies[$0] })
      try parser.feed(Array("+OK\r\n".utf8)[...])
      #expect(try parser.next() == .status("OK"), "nothing of those taken is left")
    }
  }

  @Test func theLimitIsOfOneReply() throws {
    let parser = ReplyParser(replyBytesMax: 10_000)
    let reply = RedisReply.bulk([UInt8](repeating: 7, count: 6_000)[...])
    for _ in 0..<4 {
      for piece in [reply.encoded.prefix(3_000), reply.encoded.dropFirst(3_000)] {
        try parser.feed(piece)
        _ = try parser.readReply()
      }
    }
    #expect(Array(parser.takeReplies()) == Array(repeating: reply, count: 4))
  }

  @Test func tooDeepNestingIsRefused() {
    let bytes = Array(String(repeating: "*1\r\n", count: 20).utf8)
    #expect(throws: RedisError.self) { try parse(bytes, pieceSize: 1_000) }
  }

  @Test func aReplyBeyondTheLimitIsRefusedBeforeItIsComplete() throws {
    let parser = ReplyParser(replyBytesMax: 10_000)
    try parser.feed(Array("$20000\r\n".utf8)[...])
    #expect(try parser.next() == nil)
    let piece = [UInt8](repeating: 0, count: 6_000)
    try parser.feed(piece[...])
    #expect(try parser.next() == nil)
    try parser.feed(piece[...])
    #expect(throws: RedisError.self) { try parser.next() }
  }

  /// Fed as a socket would: piece by piece, taking out what is complete.
  private func parse(_ bytes: [UInt8], pieceSize: Int) throws(RedisError) -> [RedisReply] {
    let parser = ReplyParser(replyBytesMax: 1 << 20)
    var replies: [RedisReply] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      try parser.feed(rest.prefix(pieceSize))
      rest = rest.dropFirst(pieceSize)
      while let reply = try parser.next() { replies.append(reply) }
    }
    return replies
  }
}

extension ReplyParser {
  /// The next complete reply, or nil if more bytes are needed first.
  func next() throws(RedisError) -> RedisReply? { try readReply() ? takeReply() : nil }
}

extension RedisReply {
  static func random(depth: Int, using numbers: inout SeededGenerator) -> RedisReply {
    switch Int.random(in: 0...(depth > 0 ? 6 : 4), using: &numbers) {
    case 0: .status("OK \(UInt8.random(in: 0...255, using: &numbers))")
    case 1: .error("ERR \(UInt8.random(in: 0...255, using: &numbers))")
    case 2: .integer(Int64.random(in: .min ... .max, using: &numbers))
    case 3:
      .bulk(
        (0..<Int.random(in: 0...50, using: &numbers)).map { _ in UInt8.random(in: 0...255, using: &numbers) })
    case 4: .null
    default:
      .array(
        (0..<Int.random(in: 0...4, using: &numbers)).map { _ in .random(depth: depth - 1, using: &numbers) })
    }
  }

  /// As Redis would send it.
  var encoded: [UInt8] {
    switch self {
    case .status(let text): Array("+\(text)\r\n".utf8)
    case .error(let text): Array("-\(text)\r\n".utf8)
    case .integer(let value): Array(":\(value)\r\n".utf8)
    case .bulk(let bytes): Array("$\(bytes.count)\r\n".utf8) + bytes + [13, 10]
    case .array(let elements): Array("*\(elements.count)\r\n".utf8) + elements.flatMap(\.encoded)
    case .null: Array("$-1\r\n".utf8)
    }
  }
}
