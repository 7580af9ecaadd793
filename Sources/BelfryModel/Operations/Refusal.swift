import BelfryBytes

/// The reason why an operation was not done. Nothing changed and nothing was announced, unless the code is
/// `unknownOutcome`.
package struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable word that a program can switch on; the `code` of the problem document.
  package enum Code: String, Sendable, CaseIterable {
    case unauthorized, forbidden, notFound, notMember, muted, banned, conflict, duplicateContent
    case invalidField, tooLarge, tooMany, rateLimited, busy, unavailable
    /// The operation may have been done: no answer has said if it was.
    case unknownOutcome
    /// A channel takes no more members.
    case full
    /// A trusted caller has disabled the group: it takes no sends and nobody joins.
    case disabled
    /// A receiver's mailbox holds as many entries as it may, of this sender or of all users.
    case mailboxFull
    /// A receiver does not allow this to this account.
    case blocked
    /// A callback of the deployment's own refused it.
    case refusedByCallback
    /// All tokens issued to the account before a certain time are void, and this is one of them.
    case tokenRevoked
    /// A ticket is unknown, was used, or is over.
    case invalidTicket
  }

  package var code: Code
  /// The fault and, if there is one, its remedy; a sentence for a person.
  package var detail: String
  /// The faulty field of the request, in the wire's spelling, such as `toAccids[3]`.
  package var field: String?
  /// The number of seconds after which another try may succeed.
  package var retryAfterSeconds: Int?
  /// The callback's code for its reason to refuse.
  package var callbackCode: String?
  /// The id by which a send whose outcome is unknown can be repeated, and is done once.
  package var messageClientId: String?

  package init(_ code: Code, _ detail: String, field: String? = nil, retryAfterSeconds: Int? = nil) {
    self.code = code
    self.detail = detail
    self.field = field
    self.retryAfterSeconds = retryAfterSeconds
  }

  package var description: String { "\(code.rawValue): \(detail)" }

  /// The refusal if a table has as many records as it may.
  package static func noRoom(in table: RecordTable, of space: SpaceID) -> Refusal {
    if case .channelRoster(let id) = table {
      return Refusal(.full, "channel \(id) has reached its maximum number of members", field: "channelId")
    }
    return Refusal(
      .tooMany, "\(space.kind.rawValue) \(space.name) has reached its maximum number of \(table.contents)")
  }

  package static let unknownOutcome = Refusal(
    .unknownOutcome,
    "no answer came in time, so the request may or may not have been carried out: check before you repeat it",
    retryAfterSeconds: 1)

  /// Redis stopped in the middle of a request, since the broker's user lacks a right.
  package static let halfwayForWantOfARight = Refusal(
    .unknownOutcome,
    "\(wantOfARight), so the request may or may not have been carried out: check before you repeat it",
    retryAfterSeconds: 1)

  /// The first words of the refusals that a right could have prevented.
  package static let wantOfARight =
    "Redis does not allow this broker's user a command that it needs (NOPERM)"

  /// The refusal of a send by a muted account.
  ///
  /// - Parameter place: in words, such as `this server`.
  static func muted(in place: String, untilMilliseconds: Int64) -> Refusal {
    Refusal(.muted, "you are muted in \(place) until \(Timestamp.text(milliseconds: untilMilliseconds))")
  }

  package static func invalid(_ field: String, _ detail: String) -> Refusal {
    Refusal(.invalidField, detail, field: field)
  }
}
