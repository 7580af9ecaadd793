// The set of characters is small on purpose. An accid is part of HTTP headers, of Redis fields, and of the audience of a log
// entry, which is separated by spaces and commas. No accid contains a separator, so none of these needs an escape.
/// The name of an account: `accid` in the HTTP interface. 1 to 64 characters of `A–Z a–z 0–9 _ . @ -`.
///
/// ```swift
/// guard let dave = AccountID("dave@example.com") else { return }
/// _ = try await client.send(NewNotification(toAccids: [dave], body: "Practice is at seven."))
/// ```
public struct AccountID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The most characters that a name has.
  public static let lengthLimitBytes = 64

  /// The name itself.
  public let text: String

  /// Nil if `text` is empty, too long, or has a character outside the set.
  public init?(_ text: String) {
    guard Name.isValid(text, lengthLimitBytes: Self.lengthLimitBytes) else { return nil }
    self.text = text
  }

  /// The name itself.
  public var description: String { text }

  /// Compares the names byte by byte.
  public static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// The name of one of an account's devices: `deviceId` in the HTTP interface. 1 to 128 characters of
/// `A–Z a–z 0–9 _ . @ -`.
///
/// ```swift
/// let client = BelfryClient(baseURL: address, token: token, device: DeviceID("phone-1"))
/// ```
public struct DeviceID: Hashable, Sendable, CustomStringConvertible {
  /// The most characters that a name has.
  public static let lengthLimitBytes = 128

  /// The name itself.
  public let text: String

  /// Nil if `text` is empty, too long, or has a character outside the set.
  public init?(_ text: String) {
    guard Name.isValid(text, lengthLimitBytes: Self.lengthLimitBytes) else { return nil }
    self.text = text
  }

  /// The name itself.
  public var description: String { text }
}

/// The characters of names in the HTTP interface.
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
