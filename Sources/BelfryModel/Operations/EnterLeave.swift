/// `event` of types 31 and 32.
enum EnterLeave {
  static let entered: JSONValue = ["event": 1]
  static let left: JSONValue = ["event": 2]
}
