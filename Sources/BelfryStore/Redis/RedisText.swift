import BelfryModel

// Ids as the bytes that Redis gives, read without a detour through `String`: every entry and every live
// message has two or three.

extension MessageID {
  /// `<unix ms>-<partition * 4096 + sequence>`. The rules are those of ``init(streamForm:)``.
  init?(streamBytes bytes: ArraySlice<UInt8>) {
    guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")),
      let milliseconds = Int64(digits: bytes[..<dash]), let low = Int64(digits: bytes[(dash + 1)...])
    else { return nil }
    guard milliseconds >= Self.epochMilliseconds else {
      self = .zero
      return
    }
    guard milliseconds - Self.epochMilliseconds < 1 << 41,
      let partition = Partition(Int(truncatingIfNeeded: low >> 12)), low >> 12 < Partition.count
    else { return nil }
    self.init(unixMilliseconds: milliseconds, partition: partition, sequence: low & 4_095)
  }

  /// The decimal form.
  init?(decimalBytes bytes: ArraySlice<UInt8>) {
    guard let number = Int64(digits: bytes) else { return nil }
    self.init(number)
  }
}

extension Int64 {
  /// Nil unless all bytes are digits, at least one, and their number is not too large.
  init?(digits: ArraySlice<UInt8>) {
    guard !digits.isEmpty else { return nil }
    var value: Int64 = 0
    for byte in digits {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, isStillTooLarge) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
      if isTooLarge || isStillTooLarge { return nil }
      value = sum
    }
    self = value
  }
}

extension LogEntry {
  /// Nil unless the audience is one and the content is a JSON object, as far as its ends show.
  init?(
    id: MessageID, audience: ArraySlice<UInt8>, content: ArraySlice<UInt8>, updateTime: Int64? = nil
  ) {
    guard content.count >= 2, content.first == UInt8(ascii: "{"), content.last == UInt8(ascii: "}"),
      let audience = Audience(bytes: audience), let text = String(validating: content, as: UTF8.self)
    else { return nil }
    self.init(id: id, audience: audience, contentJSON: text, updateTime: updateTime)
  }
}
