import TestKit
import Testing

@testable import BelfryClient

@Suite struct ServerSentEventParserTests {
  private typealias Item = FeedItem

  private func items(_ text: String, limitBytes: Int = 1_024) throws -> [FeedItem] {
    var parser = ServerSentEventParser(limitBytes: limitBytes)
    var items: [FeedItem] = []
    try parser.parse(Array(text.utf8), into: &items)
    return items
  }

  private static let everything =
    "\u{FEFF}retry: 1500\n: a comment\n\nevent: notification\nid: 1.a~server:7*z\ndata: {\"body\":\"grüße 🔔\"}\n\n"
    + "data: two\ndata: lines\n\nid: 2\n\ndata\n\n"
  private static let everythingMeans: [FeedItem] = [
    .retry(.milliseconds(1_500)),
    .event(name: "notification", data: #"{"body":"grüße 🔔"}"#, id: "1.a~server:7*z"),
    .event(name: "message", data: "two\nlines", id: "1.a~server:7*z"),
    .position(id: "2"),
    .event(name: "message", data: "", id: "2"),
  ]

  @Test(arguments: ["\n", "\r", "\r\n"])
  func `means the same whatever ends the lines, split at any byte`(lineEnd: String) throws {
    let bytes = Array(Self.everything.replacing("\n", with: lineEnd).utf8)
    for cut in 0...bytes.count {
      var parser = ServerSentEventParser()
      var items: [FeedItem] = []
      try parser.parse(bytes[..<cut], into: &items)
      try parser.parse(bytes[cut...], into: &items)
      #expect(items == Self.everythingMeans, "cut before byte \(cut)")
    }
  }

  @Test func `means the same byte by byte`() throws {
    var parser = ServerSentEventParser()
    var items: [FeedItem] = []
    for byte in Self.everything.utf8 { try parser.parse([byte], into: &items) }
    #expect(items == Self.everythingMeans)
  }

  @Test func `tells an event as soon as a CR ends it, without waiting for an LF`() throws {
    #expect(try items("data: now\r\r") == [.event(name: "message", data: "now", id: nil)])
  }

  @Test func `drops an event that the stream's end cuts off`() throws {
    #expect(try items("data: whole\n\ndata: half") == [.event(name: "message", data: "whole", id: nil)])
  }

  @Test func `takes one space after the colon and keeps the others`() throws {
    #expect(try items("data:  two\ndata:none\n\n") == [.event(name: "message", data: " two\nnone", id: nil)])
  }

  @Test func `ignores an id with a NUL, a retry that is no number, and fields it does not know`() throws {
    let text = "id: a\0b\nretry: 5s\nretry: -1\nretry:\nretry: 99999999999999999999\ncolour: red\ndata: x\n\n"
    #expect(try items(text) == [.event(name: "message", data: "x", id: nil)])
  }

  @Test func `an empty id clears the last one`() throws {
    let text = "id: 7\ndata: a\n\nid\ndata: b\n\n"
    #expect(
      try items(text) == [
        .event(name: "message", data: "a", id: "7"), .event(name: "message", data: "b", id: ""),
      ])
  }

  @Test func `a name is its own event's only, and no data is no event`() throws {
    #expect(try items("event: read\n\ndata: x\n\n") == [.event(name: "message", data: "x", id: nil)])
  }

  @Test func `refuses a line over the limit, and keeps what came before it`() {
    var parser = ServerSentEventParser(limitBytes: 16)
    var items: [FeedItem] = []
    let text = "data: ok\n\n" + String(repeating: "x", count: 17)
    #expect(throws: FeedFlaw.tooLong(limitBytes: 16)) {
      try parser.parse(Array(text.utf8), into: &items)
    }
    #expect(items == [.event(name: "message", data: "ok", id: nil)])
  }

  @Test func `refuses many lines of data that together exceed the limit`() {
    #expect(throws: FeedFlaw.tooLong(limitBytes: 16)) {
      _ = try items(String(repeating: "data: 12345\n", count: 4), limitBytes: 16)
    }
  }

  @Test func `a line of exactly the limit is a line`() throws {
    #expect(
      try items("data:0123456789a\n\n", limitBytes: 16) == [
        .event(name: "message", data: "0123456789a", id: nil)
      ])
  }

  @Test func `survives any bytes`() throws {
    var generator = SeededGenerator(seed: 42)
    for _ in 0..<200 {
      var parser = ServerSentEventParser(limitBytes: 4_096)
      var items: [FeedItem] = []
      // Mostly the bytes that mean something, so that garbage reaches every branch.
      let alphabet: [UInt8] = Array("data:id:event:retry: \r\n\n\0\u{FEFF}".utf8) + [0xff, 0x80, 0xc3]
      let bytes = (0..<2_000).map { _ in alphabet[Int(generator.next() % UInt64(alphabet.count))] }
      try parser.parse(bytes, into: &items)
      try parser.parse(Array("\n\ndata: end\n\n".utf8), into: &items)
      guard case .event(_, let data, _) = try #require(items.last) else {
        Issue.record("no event at the end")
        continue
      }
      #expect(data.hasSuffix("end"))
    }
  }
}
