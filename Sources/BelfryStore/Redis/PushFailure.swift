/// The last failure of a pusher.
package struct PushFailure: Sendable, Hashable {
  package static let causeBytesMax = 200
  /// The end of the cause if pushes were given up since the last one that was accepted.
  private static let givenUpWords = "pushes were given up because too many waited"

  /// Milliseconds since 1970.
  package var atMilliseconds: Int64
  package var cause: String

  package init(atMilliseconds: Int64, cause: String) {
    self.atMilliseconds = atMilliseconds
    self.cause = cause
  }

  /// Pushes were given up because too many waited, and no push has failed since the last one that was accepted.
  package static func ofGivenUpPushes(atMilliseconds: Int64) -> PushFailure {
    PushFailure(atMilliseconds: atMilliseconds, cause: givenUpWords)
  }

  package var saysGivenUp: Bool { cause.hasSuffix(Self.givenUpWords) }

  /// The same failure, which also says that pushes were given up because too many waited.
  package func sayingGivenUp() -> PushFailure {
    if saysGivenUp { return self }
    let end = "; \(Self.givenUpWords)"
    var beginning = cause
    while beginning.utf8.count + end.utf8.count > Self.causeBytesMax { beginning.removeLast() }
    return PushFailure(atMilliseconds: atMilliseconds, cause: beginning + end)
  }
}

// MARK: - As it is kept

extension PushFailure {
  /// Stands before the device in the name of the field. No device's name has it.
  static let mark = "!"

  var text: String {
    "\(atMilliseconds) \(String(decoding: cause.utf8.prefix(Self.causeBytesMax), as: UTF8.self))"
  }

  /// Nil if the text is not one that this code writes.
  init?(text: String) {
    let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let time = Int64(parts[0]) else { return nil }
    self.init(atMilliseconds: time, cause: String(parts[1]))
  }
}
