/// The name of an account, `accid` on the wire.
///
/// 1 to 64 characters of `A–Z a–z 0–9 _ . @ -`. The set is narrow on purpose: an accid stands in HTTP
/// headers, in Redis fields and in the space- and comma-separated audience of a log entry, and none of
/// these needs an escape because no accid contains a separator.
public struct AccountID: Hashable, Sendable, Comparable, CustomStringConvertible {
  public static let lengthLimitBytes = 64

  public let text: String

  /// Nil when `text` is empty, too long, or holds a character outside the set.
  public init?(_ text: String) {
    guard Name.isValid(text, lengthLimitBytes: Self.lengthLimitBytes) else { return nil }
    self.text = text
  }

  public var description: String { text }

  public static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// The name of one of an account's endpoints, `deviceId` on the wire; the same characters as an accid.
public struct DeviceID: Hashable, Sendable, CustomStringConvertible {
  public static let lengthLimitBytes = 128

  public let text: String

  public init?(_ text: String) {
    guard Name.isValid(text, lengthLimitBytes: Self.lengthLimitBytes) else { return nil }
    self.text = text
  }

  public var description: String { text }
}

/// The characters that names on the wire are made of.
enum Name {
  static func isValid(_ text: String, lengthLimitBytes: Int) -> Bool {
    isValid(text.utf8, lengthLimitBytes: lengthLimitBytes)
  }

  static func isValid(_ bytes: some Collection<UInt8>, lengthLimitBytes: Int) -> Bool {
    !bytes.isEmpty && bytes.count <= lengthLimitBytes && bytes.allSatisfy(isNameByte)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "@"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
