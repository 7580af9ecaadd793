public import BelfryModel

// Tests name accounts and ids as literals. The text of a literal is fixed, so one that is no name stops the
// test at once.

extension AccountID: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    guard let account = AccountID(text) else { preconditionFailure("\(text) is no accid") }
    self = account
  }
}

extension DeviceID: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    guard let device = DeviceID(text) else { preconditionFailure("\(text) is no device id") }
    self = device
  }
}

extension EntityID: ExpressibleByIntegerLiteral {
  public init(integerLiteral number: Int64) {
    guard let id = EntityID(number) else { preconditionFailure("\(number) is no id") }
    self = id
  }
}

/// Small numbers, for tests where only the order of ids matters.
extension MessageID: ExpressibleByIntegerLiteral {
  public init(integerLiteral number: Int64) {
    guard let id = MessageID(number) else { preconditionFailure("\(number) is no message id") }
    self = id
  }
}
