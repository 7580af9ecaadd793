import TestKit
import Testing

@testable import BelfryClient

/// The client's reading of frames, also of those that no broker sends.
@Suite struct SocketFrameParserTests {
  private static func frame(_ first: UInt8, _ text: String) -> [UInt8] {
    RawSocket.frame(first, Array(text.utf8), mask: nil)
  }

  private func parse(
    _ bytes: [UInt8], inPiecesOf size: Int = .max, limitBytes: Int = 1_024
  ) -> (items: [FeedItem], replies: [UInt8], flaw: FeedFlaw?) {
    var parser = SocketFrameParser(limitBytes: limitBytes)
    var items: [FeedItem] = []
    for start in stride(from: 0, to: bytes.count, by: min(size, max(1, bytes.count))) {
      let end = start + min(size, bytes.count - start)
      do { try parser.parse(bytes[start..<end], into: &items) } catch {
        return (items, parser.takeReplies(), error)
      }
    }
    return (items, parser.takeReplies(), nil)
  }

  /// The opcodes of the replies, which are all short.
  private func opcodes(_ replies: [UInt8]) -> [UInt8] {
    var (opcodes, rest): ([UInt8], ArraySlice<UInt8>) = ([], replies[...])
    while let first = rest.first, let second = rest.dropFirst().first {
      #expect(second & 0x80 != 0, "a client's frame is masked")
      opcodes.append(first & 0x0F)
      rest = rest.dropFirst(6 + Int(second & 0x7F))
    }
    return opcodes
  }

  private static let good =
    frame(0x81, #"{"id":0,"ok":{"pingSeconds":15,"retryMilliseconds":1200}}"#) + frame(0x81, "{}")
    + frame(0x01, #"{"notification":{"body":"gr\#u{FC}"#) + frame(0x89, "p")
    + frame(0x80, #"n"},"cursor":"2.a"}"#)
    + frame(0x81, #"{"read":{"upTo":"5"}}"#) + frame(0x8A, "") + frame(0x88, "")
  private static let goodMeans: [FeedItem] = [
    .retry(.milliseconds(1_200)), .event(name: "notification", data: #"{"body":"gr\#u{FC}n"}"#, id: "2.a"),
    .event(name: "read", data: #"{"upTo":"5"}"#, id: nil),
  ]

  @Test func meansTheSameInWhateverPieces() {
    for size in [1, 2, 3, 7, 50, .max] {
      let (items, replies, flaw) = parse(Self.good, inPiecesOf: size)
      #expect(flaw == nil)
      #expect(items == Self.goodMeans)
      #expect(opcodes(replies) == [1, 10, 8])
    }
  }

  @Test func whatNoServerMaySend() {
    let bad: [[UInt8]] = [
      RawSocket.frame(0x81, Array("{}".utf8), mask: 7), Self.frame(0xC1, "{}"), Self.frame(0x91, "{}"),
      Self.frame(0x82, "{}"), Self.frame(0x83, ""), Self.frame(0x8B, ""), Self.frame(0x80, "{}"),
      Self.frame(0x01, "{") + Self.frame(0x81, "{}"), Self.frame(0x09, "p"), Self.frame(0x08, ""),
      RawSocket.frame(0x89, [UInt8](repeating: 1, count: 126), mask: nil),
      RawSocket.frame(0x81, [0x22, 0xFF, 0x22], mask: nil),
    ]
    let before = Self.frame(0x81, #"{"read":{"upTo":"5"}}"#)
    for frame in bad {
      for size in [1, 3, .max] {
        let (items, _, flaw) = parse(before + frame + before, inPiecesOf: size)
        guard case .badFrame? = flaw else {
          Issue.record("\(frame.prefix(8)) was taken")
          continue
        }
        // The items before it are kept, and nothing after it is read.
        #expect(items == [.event(name: "read", data: #"{"upTo":"5"}"#, id: nil)])
      }
    }
  }

  /// Refused by what is announced, before it is there; over all fragments together.
  @Test func whatIsTooLong() {
    let huge: [[UInt8]] = [
      [0x81, 127, 0, 0, 0, 0, 0, 0, 4, 1], [0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255],
      [0x81, 126, 4, 1],
    ]
    for head in huge { #expect(parse(head).flaw == .tooLong(limitBytes: 1_024)) }
    let half = String(repeating: "x", count: 600)
    #expect(parse(Self.frame(0x01, half) + Self.frame(0x80, half)).flaw == .tooLong(limitBytes: 1_024))
    #expect(parse(Self.frame(0x01, half) + Self.frame(0x80, "")).flaw == nil)
  }

  /// A server that pings without end is answered by as much, and no more is kept.
  @Test func pingsWithoutEnd() throws {
    var parser = SocketFrameParser()
    var items: [FeedItem] = []
    for _ in 0..<1_000 {
      try parser.parse(Self.frame(0x89, "abc"), into: &items)
      #expect(parser.takeReplies().count == 9)
    }
    #expect(items.isEmpty)
  }

  @Test func textThatIsNoObjectIsShownAsItIs() {
    for text in ["", "x", "[]", "{", "7"] {
      #expect(parse(Self.frame(0x81, text)).items == [.event(name: "message", data: text, id: nil)])
    }
    #expect(parse(Self.frame(0x81, #"{"ok":7}"#)).items == [])
    #expect(parse(Self.frame(0x81, #"{"ok":{"retryMilliseconds":"x"}}"#)).items == [])
  }
}
