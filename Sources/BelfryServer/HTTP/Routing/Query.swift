import BelfryModel

/// The parameters after the `?`, by name.
struct Query {
  private var values: [String: String] = [:]

  /// Refuses a parameter that stands twice, and one that is not `known`.
  init(_ parameters: [(name: String, value: String)], known: Set<String>) throws(Refusal) {
    for (name, value) in parameters {
      guard known.contains(name) else {
        throw Refusal.invalid("", "is not a parameter of this request").under(name)
      }
      guard values.updateValue(value, forKey: name) == nil else {
        throw .invalid(name, "stands twice in the query")
      }
    }
  }

  func text(_ name: String) -> String? { values[name] }

  func integer(_ name: String, in range: ClosedRange<Int>, otherwise standard: Int) throws(Refusal)
    -> Int
  {
    guard let text = text(name) else { return standard }
    // One spelling a number: neither +5 nor 05.
    guard let number = Int(text), String(number) == text, range.contains(number) else {
      throw .invalid(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func account(_ name: String) throws(Refusal) -> AccountID? {
    guard let text = text(name) else { return nil }
    guard let account = AccountID(text) else { throw .invalid(name, "must be \(AccountID.rule)") }
    return account
  }

  func entity(_ name: String) throws(Refusal) -> EntityID? {
    guard let text = text(name) else { return nil }
    guard let id = EntityID(text) else { throw .invalid(name, "was not given by this server") }
    return id
  }

  func feedCursor(_ name: String) throws(Refusal) -> FeedCursor? {
    guard let text = text(name) else { return nil }
    guard let cursor = FeedCursor(text: text) else { throw .invalid(name, "is no cursor of this server's") }
    return cursor
  }
}
