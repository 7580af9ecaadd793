import BelfryModel

/// Counts the pages, counts and marks that each account has asked for and that are not done.
///
/// One that waits for its turn takes some 24 KiB, and a client may leave without waiting. So an account can have only so many.
final class ReadingsUnderWay {
  /// More than an app asks for at once, and less than a megabyte.
  static let perAccountMax = 32

  private var counts: [AccountID: Int] = [:]

  func count<Value>(
    as account: AccountID, _ work: () async throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    let others = counts[account, default: 0]
    guard others < Self.perAccountMax else {
      throw Refusal(
        .rateLimited,
        "\(others) requests of this account are reading its feed already; wait for their answers",
        retryAfterSeconds: 1)
    }
    counts[account] = others + 1
    defer { counts[account] = counts[account].flatMap { $0 > 1 ? $0 - 1 : nil } }
    return try await work()
  }
}
