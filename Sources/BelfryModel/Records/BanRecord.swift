/// That an account may not come back, and since when, by whom.
package struct BanRecord: Sendable, Hashable, Codable {
  /// Nil when a trusted back end banned in nobody's name.
  package var by: AccountID?
  /// Milliseconds since 1970.
  package var since: Int64

  package init(by: AccountID?, since: Int64) {
    self.by = by
    self.since = since
  }
}
