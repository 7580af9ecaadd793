import Testing

@testable import BelfryHTTP

/// Reading a client's frames, whole and byte by byte.
@Suite struct FrameReaderTests {
  /// A client's frame, masked.
  struct Frame {
    var first: UInt8
    var payload: [UInt8]
    var isMasked = true
    /// The number of bytes for the length, if it is not the shortest form.
    var lengthBytes: Int?

    init(_ first: UInt8, _ payload: [UInt8] = [], isMasked: Bool = true, lengthBytes: Int? = nil) {
      (self.first, self.payload, self.isMasked, self.lengthBytes) = (first, payload, isMasked, lengthBytes)
    }

    init(_ first: UInt8, _ text: String) { self.init(first, Array(text.utf8)) }

    var bytes: [UInt8] {
      let count = payload.count
      let width = lengthBytes ?? (count < 126 ? 0 : count < 65_536 ? 2 : 8)
      let short = width == 0 ? UInt8(count) : width == 2 ? 126 : 127
      let mask: [UInt8] = isMasked ? [0x37, 0xFA, 0x21, 0x3D] : []
      var bytes = [first, short | (isMasked ? 0x80 : 0)]
      for index in (0..<width).reversed() {
        bytes.append(UInt8(truncatingIfNeeded: UInt64(count) >> (UInt64(index) * 8)))
      }
      bytes += mask
      for (index, byte) in payload.enumerated() { bytes.append(isMasked ? byte ^ mask[index % 4] : byte) }
      return bytes
    }
  }

  private static let (text, binary, more, last): (UInt8, UInt8, UInt8, UInt8) = (0x81, 0x82, 0x00, 0x80)
  private static let (close, ping, pong): (UInt8, UInt8, UInt8) = (0x88, 0x89, 0x8A)

  static func steps(_ bytes: [UInt8], inPiecesOf size: Int, messageBytesMax: Int = 65_536) -> [FrameReader
    .Step]
  {
    var reader = FrameReader(messageBytesMax: messageBytesMax)
    var steps: [FrameReader.Step] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      var rest = bytes[start..<min(start + size, bytes.count)]
      while true {
        let step = reader.next(&rest)
        if case .incomplete = step { break }
        steps.append(step)
        if case .refused = step { return steps }
      }
      #expect(rest.isEmpty)
    }
    return steps
  }

  private func check(
    _ frames: [Frame], _ expected: [FrameReader.Step], _ sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let bytes = frames.flatMap(\.bytes)
    for size in [1, 2, 3, 7, 1_000, bytes.count] {
      let steps = Self.steps(bytes, inPiecesOf: max(size, 1))
      #expect(steps == expected, "in pieces of \(size)", sourceLocation: sourceLocation)
    }
  }

  /// - Parameter code: the code of the refusal; earlier frames were accepted.
  private func refuse(
    _ frames: [Frame], _ code: Int, after taken: [FrameReader.Step] = [],
    _ sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let bytes = frames.flatMap(\.bytes)
    for size in [1, 2, 7, bytes.count] {
      let steps = Self.steps(bytes, inPiecesOf: size)
      #expect(Array(steps.dropLast()) == taken, sourceLocation: sourceLocation)
      guard case .refused(let close)? = steps.last else {
        Issue.record("not refused: \(steps)", sourceLocation: sourceLocation)
        continue
      }
      #expect(close.code == code, "\(close.reason)", sourceLocation: sourceLocation)
    }
  }

  // MARK: Messages, as Autobahn's sections 1 and 9

  @Test(arguments: [0, 1, 125, 126, 127, 128, 65_535, 65_536])
  func messagesOfEachLength(_ count: Int) {
    let payload = [UInt8](repeating: UInt8(ascii: "*"), count: count)
    check([Frame(Self.text, payload)], [.text(payload)])
    refuse([Frame(Self.binary, payload)], 1_003)
  }

  /// It is refused with its first byte, independent of its other frames.
  @Test func binaryIsRefusedBeforeItArrives() {
    for first in [0x02, 0x82] as [UInt8] {
      #expect(Self.steps([first], inPiecesOf: 1) == [.refused(.unsupportedData)])
    }
  }

  @Test func oneByteMoreThanAMessageMayHave() {
    refuse([Frame(Self.text, [UInt8](repeating: 0x2A, count: 65_537))], 1_009)
    let half = [UInt8](repeating: 0x2A, count: 40_000)
    refuse([Frame(0x01, half), Frame(Self.last, half)], 1_009)
  }

  /// Frames that are neither a message nor a long part of one.
  @Test func lightFramesAreCounted() {
    let long = [UInt8](repeating: 0x2A, count: 1_024)
    let cases: [([Frame], Int)] = [
      ([Frame(Self.text, "x"), Frame(Self.text, [])], 0),
      ([Frame(Self.ping, []), Frame(Self.pong, "x"), Frame(Self.text, "x")], 2),
      ([Frame(0x01, []), Frame(Self.more, []), Frame(Self.more, "x"), Frame(Self.last, [])], 3),
      ([Frame(0x01, long), Frame(Self.more, long), Frame(Self.ping, []), Frame(Self.last, "x")], 1),
    ]
    for (frames, count) in cases {
      var reader = FrameReader(messageBytesMax: 65_536)
      var rest = frames.flatMap(\.bytes)[...]
      while reader.next(&rest) != .incomplete {}
      #expect(reader.takeLightFrames() == count)
      #expect(reader.takeLightFrames() == 0)
    }
  }

  @Test func isRefusedBeforeItArrives() {
    let head = Array(Frame(Self.text, [UInt8](repeating: 0x2A, count: 70_000)).bytes.prefix(10))
    guard case .refused(let close)? = Self.steps(head, inPiecesOf: 1).last else {
      Issue.record("its length was there")
      return
    }
    #expect(close.code == 1_009)
  }

  // MARK: Control frames, as sections 2 and 7

  @Test func pingsOfEachLength() {
    for count in [0, 1, 124, 125] {
      let payload = [UInt8](repeating: 0xFE, count: count)
      check([Frame(Self.ping, payload)], [.ping(payload)])
    }
    refuse([Frame(Self.ping, [UInt8](repeating: 0xFE, count: 126))], 1_002)
    refuse([Frame(Self.close, [UInt8](repeating: 0x41, count: 126))], 1_002)
    check([Frame(Self.pong, "unasked"), Frame(Self.ping, "a")], [.pong, .ping(Array("a".utf8))])
  }

  @Test func closesWithEachCode() {
    check([Frame(Self.close)], [.close(code: nil)])
    for code in [1_000, 1_001, 1_002, 1_003, 1_007, 1_008, 1_009, 1_010, 1_011, 3_000, 3_999, 4_000, 4_999] {
      let payload = [UInt8(code >> 8), UInt8(code & 0xFF)]
      check([Frame(Self.close, payload)], [.close(code: code)])
      check(
        [Frame(Self.close, payload + [UInt8](repeating: 0x61, count: 123))], [.close(code: code)])
    }
    for code in [0, 999, 1_004, 1_005, 1_006, 1_015, 1_016, 1_100, 2_000, 2_999, 5_000, 65_535] {
      refuse([Frame(Self.close, [UInt8(code >> 8), UInt8(code & 0xFF)])], 1_002)
    }
    refuse([Frame(Self.close, [0x03])], 1_002)
    refuse([Frame(Self.close, [0x03, 0xE8, 0xCE, 0xBA, 0xE1, 0xBD])], 1_007)
  }

  // MARK: Reserved bits and masks, as sections 3 and 4

  @Test func reservedBitsAndOpcodes() {
    let hello = Frame(Self.text, "Hello")
    for bits in 1...7 as ClosedRange<UInt8> {
      for opcode in [0x81, 0x82, 0x88, 0x89, 0x8A] as [UInt8] {
        refuse([hello, Frame(opcode | bits << 4, "x")], 1_002, after: [.text(Array("Hello".utf8))])
      }
    }
    for opcode in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8] {
      refuse([hello, Frame(0x80 | opcode)], 1_002, after: [.text(Array("Hello".utf8))])
      refuse([Frame(opcode, "x")], 1_002)
    }
  }

  @Test func framesWithoutAMask() {
    for first in [Self.text, Self.ping, Self.close] {
      refuse([Frame(first, Array("hi".utf8), isMasked: false)], 1_002)
      refuse([Frame(first, isMasked: false)], 1_002)
    }
  }

  @Test func lengthsLongerThanTheyNeedBe() {
    for (count, width) in [(5, 2), (125, 2), (5, 8), (126, 8), (65_535, 8)] {
      refuse([Frame(Self.text, [UInt8](repeating: 0x2A, count: count), lengthBytes: width)], 1_002)
    }
    // The highest bit of a length is never set.
    #expect(
      Self.steps([0x81, 0xFF, 0x80, 0, 0, 0, 0, 1, 0, 0], inPiecesOf: 1) == [
        .refused(.violation("a length is not encoded in the shortest form"))
      ])
  }

  // MARK: Fragments, as section 5

  @Test func fragmentsAndWhatStandsBetween() {
    let hello = Array("Hello".utf8)
    check([Frame(0x01, "Hel"), Frame(Self.last, "lo")], [.text(hello)])
    check([Frame(0x01), Frame(Self.more), Frame(Self.last)], [.text([])])
    check([Frame(0x01), Frame(Self.more, "Hello"), Frame(Self.last)], [.text(hello)])
    check(
      [Frame(0x01, "Hel"), Frame(Self.ping, "p"), Frame(Self.last, "lo"), Frame(Self.text, "Hello")],
      [.ping([0x70]), .text(hello), .text(hello)])
    check(
      [Frame(0x01, "Hel"), Frame(Self.close, [0x03, 0xE8])], [.close(code: 1_000)])
    check(
      hello.enumerated().map { Frame($0.0 == 0 ? 0x01 : $0.0 == 4 ? 0x80 : 0x00, [$0.1]) }, [.text(hello)])
  }

  @Test func fragmentsOutOfPlace() {
    refuse([Frame(Self.more, "lo")], 1_002)
    refuse([Frame(Self.last, "lo")], 1_002)
    refuse([Frame(Self.text, "a"), Frame(Self.last, "b")], 1_002, after: [.text([0x61])])
    refuse([Frame(0x01, "Hel"), Frame(Self.text, "lo")], 1_002)
    refuse([Frame(0x01, "Hel"), Frame(0x01, "lo")], 1_002)
    refuse([Frame(0x01, "Hel"), Frame(Self.binary, "lo")], 1_002)
    refuse([Frame(0x09, "p"), Frame(Self.last, "q")], 1_002)
    refuse([Frame(0x08)], 1_002)
  }

  // MARK: UTF-8, as section 6

  static let good: [[UInt8]] = [
    Array("Hello-µ@ßöäüàá-UTF-8!!".utf8), Array("κόσμε".utf8), Array("𐍈🎈".utf8), [0x00], [0x7F],
    [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80],
    [0xEF, 0xBF, 0xBD], [0xEF, 0xBF, 0xBE], [0xEF, 0xBF, 0xBF], [0xF0, 0x90, 0x80, 0x80],
    [0xF4, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0xBF, 0xBE],
  ]
  static let bad: [[UInt8]] = [
    [0x80], [0xBF], [0x80, 0xBF, 0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xC0, 0x80], [0xC2, 0x20],
    [0xE0, 0x80, 0x80],
    [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xED, 0xAF, 0xBF], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
    [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
    [0xF8, 0x88, 0x80, 0x80, 0x80],
    [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xFE, 0xFE, 0xFF, 0xFF], [0xE2, 0x28, 0xA1],
  ]

  @Test func textsAreUTF8() {
    for scalar in Self.good {
      check([Frame(Self.text, scalar)], [.text(scalar)])
      let first = Frame(0x01, Array(scalar.prefix(1)))
      check([first, Frame(Self.last, Array(scalar.dropFirst()))], [.text(scalar)])
      if scalar.count > 1, scalar.last ?? 0 >= 0x80 {
        refuse([Frame(Self.text, Array(scalar.dropLast()))], 1_007)
      }
    }
    for bytes in Self.bad {
      refuse([Frame(Self.text, bytes)], 1_007)
      refuse([Frame(0x01, Array("a".utf8)), Frame(Self.last, bytes)], 1_007)
    }
  }

  /// As in cases 6.4: with the first byte that cannot be right, and not at the end of the frame or the
  /// message.
  @Test func isToldAtOnce() {
    let text = Array("κόσμε".utf8) + [0xF4, 0x90] + Array("never sent".utf8)
    let bytes = Frame(0x01, text).bytes
    let flaw = Array("κόσμε".utf8).count + 2
    let head = bytes.count - text.count
    #expect(Self.steps(Array(bytes.prefix(head + flaw - 1)), inPiecesOf: 1) == [])
    #expect(Self.steps(Array(bytes.prefix(head + flaw)), inPiecesOf: 1) == [.refused(.notUTF8)])
  }

  @Test func holdsNothingBetweenMessages() {
    var reader = FrameReader(messageBytesMax: 65_536)
    var bytes = Frame(Self.text, [UInt8](repeating: 0x2A, count: 60_000)).bytes[...]
    #expect(!reader.isWithinMessage)
    var part = bytes.prefix(50_000)
    bytes = bytes.dropFirst(50_000)
    #expect(reader.next(&part) == .incomplete)
    #expect(reader.isWithinMessage && reader.heldBytes > 49_000)
    guard case .text = reader.next(&bytes) else {
      Issue.record("the message is there")
      return
    }
    #expect(!reader.isWithinMessage && reader.heldBytes == 0)
  }
}
