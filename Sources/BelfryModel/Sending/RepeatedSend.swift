package import BelfryBytes

/// The facts by which a repeated send is recognised: the sender, the space, the sender's id, and the content.
package struct RepeatedSend: Sendable {
  package var space: SpaceID
  package var dedupe: Dedupe
  package var content: NotificationContent

  package init(in space: SpaceID, _ dedupe: Dedupe, _ content: NotificationContent) {
    self.space = space
    self.dedupe = dedupe
    self.content = content
  }
}

/// An operation that may have been done before, and its outcome in that case.
package struct Repetition<Output: Sendable>: Sendable {
  package var send: RepeatedSend
  package var output: Output

  package init(of send: RepeatedSend, _ output: Output) {
    self.send = send
    self.output = output
  }
}

/// A notification's content as the log holds it, and the place in it that Belfry itself filled in.
package struct ContentText: Sendable {
  package let bytes: [UInt8]
  /// The device, with the comma before it, or after it if it comes first. It is not compared, since a
  /// repetition may come from another device of the sender. Empty if there is no device.
  let device: Range<Int>

  init(bytes: [UInt8], device: Range<Int>) {
    self.bytes = bytes
    let isFirst = device.lowerBound == 1 && !device.isEmpty
    self.device = isFirst ? 1..<device.upperBound + 1 : device
  }
}

/// Says if a repeated send has the content of the first one. It only tells a caller of a mistake, so a few
/// digits are enough: they are kept for every send.
package struct SendFingerprint: Sendable, Hashable {
  private var hash = StableHash.basis

  /// The fingerprint of a send, which has one content. Through a list or a sequence it would take twice as
  /// long.
  package init(_ content: ContentText) { add(content) }

  package init(_ contents: [ContentText]) {
    for content in contents { add(content) }
  }

  private mutating func add(_ content: ContentText) {
    add(content.bytes[..<content.device.lowerBound])
    add(content.bytes[content.device.upperBound...])
    // No content contains the end of a line, so no two lists of contents are taken for the same.
    mix(UInt64(UInt8(ascii: "\n")))
  }

  /// Adds eight bytes at a time, for speed: each content is read as a whole.
  private mutating func add(_ bytes: ArraySlice<UInt8>) {
    // SAFETY: bytes are read as bytes.
    let span = unsafe bytes.span.bytes
    var position = 0
    while position + 8 <= span.byteCount {
      // SAFETY: any eight bytes are a number, and they are within the span.
      let word = unsafe span.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt64.self)
      mix(UInt64(littleEndian: word))
      position += 8
    }
    let rest = bytes.suffix(span.byteCount - position)
    mix(rest.reduce(UInt64(rest.count)) { $0 << 8 | UInt64($1) })
  }

  /// Mixes so that each bit of the word, even the highest, affects all of the hash.
  private mutating func mix(_ word: UInt64) {
    hash = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
    hash ^= hash >> 29
  }

  /// Six hexadecimal digits.
  package var text: HexadecimalText {
    var text = HexadecimalText()
    text.append(hash ^ (hash >> 32), digits: 6)
    return text
  }
}
