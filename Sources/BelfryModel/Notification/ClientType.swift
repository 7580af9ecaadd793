/// The kind of client that a notification was sent from: a text, or a whole number as other systems have it (1 for Android, 2
/// for iOS, 16 for a browser). Receivers get it as it was given.
///
/// ```swift
/// var notification = NewNotification(toAccids: [bob], body: "Bring gloves.")
/// notification.fromClientType = "kiosk"
/// ```
public enum ClientType: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  /// A text of at most 32 bytes.
  case text(String)
  /// A number from 0 to 2,147,483,647.
  case number(Int)

  /// Makes a text.
  public init(stringLiteral text: String) { self = .text(text) }
  /// Makes a number.
  public init(integerLiteral number: Int) { self = .number(number) }

  /// The numbers that a sender may give.
  package static let numbers = 0...Int(Int32.max)

  /// Nil if the value is neither a text nor a whole number.
  package init?(_ value: JSONValue) {
    switch value {
    case .string(let text): self = .text(text)
    case .integer(let number): self = .number(Int(number))
    default: return nil
    }
  }

  package var json: JSONValue {
    switch self {
    case .text(let text): .string(text)
    case .number(let number): .integer(Int64(number))
    }
  }
}

extension ClientType: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .text(let text): try text.encode(to: encoder)
    case .number(let number): try number.encode(to: encoder)
    }
  }
}
