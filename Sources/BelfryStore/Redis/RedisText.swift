import BelfryBytes
import BelfryModel

extension MessageID {
  /// The decimal form.
  init?(decimalBytes bytes: ArraySlice<UInt8>) {
    guard let number = Int64(digits: bytes) else { return nil }
    self.init(number)
  }
}

extension LogEntry {
  /// Nil unless the audience is one and the content is a JSON object, as far as its ends show. An entry that updates
  /// another may have none: then it recalls the other.
  init?(
    id: MessageID, audience: ArraySlice<UInt8>, content: ArraySlice<UInt8>, updateTime: Int64? = nil,
    updates: MessageID? = nil
  ) {
    let isObject =
      content.count >= 2 && content.first == UInt8(ascii: "{") && content.last == UInt8(ascii: "}")
    guard isObject || (content.isEmpty && updates != nil), let audience = Audience(bytes: audience),
      (try? UTF8Span(validating: content.span)) != nil
    else { return nil }
    self.init(id: id, audience: audience, content: content, updateTime: updateTime, updates: updates)
  }
}
