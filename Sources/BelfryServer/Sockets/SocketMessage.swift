import BelfryBytes
import BelfryInterface
import BelfryModel

/// The content of a client's frame: `{"id":1,"send":{…}}`, or `{}`, which only says that the client is there.
///
/// This reads only the members around the body. The reader of the HTTP request with the same body reads the
/// body itself. So the same rules and the same refusals apply.
enum SocketMessage: Equatable {
  case alive
  case connect(id: Int64, body: Range<Int>)
  case request(SocketRequest, id: Int64, body: Range<Int>)

  /// A frame that no client may send. The socket ends with it.
  struct Flaw: Error, Equatable {
    let reason: String
  }

  /// - Parameter text: the text in UTF-8.
  init(_ text: [UInt8]) throws(Flaw) {
    var scanner = MemberScanner(text)
    var id: Int64?
    var named: (name: ArraySlice<UInt8>, body: Range<Int>)?
    var count = 0
    while let (name, value) = try scanner.next() {
      count += 1
      if text[name].elementsEqual("id".utf8) {
        guard id == nil, let number = Self.id(text[value]) else {
          throw Flaw(reason: "a frame must have exactly one id, a whole number from 1 to 2^53-1")
        }
        id = number
      } else {
        guard named == nil else { throw Flaw(reason: "a frame must have exactly one operation") }
        named = (text[name], value)
      }
    }
    if count == 0 {
      self = .alive
      return
    }
    guard let id, let named else { throw Flaw(reason: "a frame must have an id and exactly one operation") }
    self = try Self.message(String(decoding: named.name, as: UTF8.self), id, named.body)
  }

  private static func message(_ name: String, _ id: Int64, _ body: Range<Int>) throws(Flaw) -> SocketMessage {
    let name = UTF8Text(name)
    if name == "connect" { return .connect(id: id, body: body) }
    guard let request = SocketRequest(word: name) else {
      let known = ["connect"] + SocketRequest.allCases.map(\.rawValue)
      throw Flaw(reason: "a frame's operation must be one of " + known.joined(separator: ", "))
    }
    return .request(request, id: id, body: body)
  }

  private static func id(_ digits: ArraySlice<UInt8>) -> Int64? {
    guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      digits.first != UInt8(ascii: "0"), let id = Int64(String(decoding: digits, as: UTF8.self)),
      id <= idMax
    else { return nil }
    return id
  }

  /// The largest integer up to which JavaScript's numbers are exact.
  static let idMax: Int64 = 1 << 53 - 1
}

/// Finds the members of a JSON object and the places of their values, without reading the values. A text that
/// looks like a value may still be none.
struct MemberScanner {
  private let text: [UInt8]
  private var position = 0
  private var hasBegun = false

  init(_ text: [UInt8]) { self.text = text }

  /// - Returns: the range of the name as written between its quotes, and the range of the value; nil at the
  ///   end.
  mutating func next() throws(SocketMessage.Flaw) -> (name: Range<Int>, value: Range<Int>)? {
    if !hasBegun { try require("{") }
    if take("}") {
      skipSpace()
      guard position == text.count else { throw Self.flaw }
      return nil
    }
    if hasBegun { try require(",") }
    hasBegun = true
    try require("\"")
    let nameStart = position
    try skipString()
    let name = nameStart..<(position - 1)
    try require(":")
    skipSpace()
    let start = position
    try skipValue()
    guard position > start else { throw Self.flaw }
    return (name, start..<position)
  }

  private static let flaw = SocketMessage.Flaw(reason: "a frame must be one JSON object")

  private mutating func skipValue() throws(SocketMessage.Flaw) {
    var depth = 0
    while position < text.count {
      switch text[position] {
      case UInt8(ascii: "\""):
        position += 1
        try skipString()
        if depth == 0 { return }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return }
        depth -= 1
        if depth == 0 {
          position += 1
          return
        }
      case UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        if depth == 0 { return }
      default: break
      }
      position += 1
    }
    throw Self.flaw
  }

  /// Moves to the position after the closing quote.
  private mutating func skipString() throws(SocketMessage.Flaw) {
    while position < text.count {
      let byte = text[position]
      position += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == UInt8(ascii: "\"") { return }
    }
    throw Self.flaw
  }

  private mutating func skipSpace() {
    while position < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[position]) { position += 1 }
  }

  private mutating func take(_ mark: Unicode.Scalar) -> Bool {
    skipSpace()
    guard position < text.count, text[position] == UInt8(ascii: mark) else { return false }
    position += 1
    return true
  }

  private mutating func require(_ mark: Unicode.Scalar) throws(SocketMessage.Flaw) {
    guard take(mark) else { throw Self.flaw }
  }
}
