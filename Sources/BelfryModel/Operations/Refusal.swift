/// Why an operation was not done. Nothing changed and nothing was announced, unless the code is `unknownOutcome`.
package struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable word that a program can switch on; the `code` of the problem document.
  package enum Code: String, Sendable, CaseIterable {
    case unauthorized, forbidden, notFound, notMember, muted, banned, conflict, duplicateContent
    case invalidField, tooLarge, tooMany, rateLimited, busy, unavailable
    /// It may have been done: nobody has said whether it was.
    case unknownOutcome
    /// A channel takes no more members.
    case full
    /// A trusted caller has disabled the group: it takes no sends and nobody joins.
    case disabled
    /// Somebody's mailbox holds all that it may hold of this sender, or of users.
    case mailboxFull
    /// Somebody does not take this from this account.
    case blocked
    /// A callback of the deployment's own said no.
    case refusedByCallback
    /// All tokens issued to the account before a certain time are void, and this is one.
    case tokenRevoked
    /// A ticket is unknown, was used, or is over.
    case invalidTicket
  }

  package var code: Code
  /// What is wrong and, where there is one, what to do about it; a sentence for a person.
  package var detail: String
  /// The field of the request that is to blame, in the wire's spelling, such as `toAccids[3]`.
  package var field: String?
  /// After how many seconds it is worth trying again.
  package var retryAfterSeconds: Int?
  /// What the callback that refuses calls the reason.
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

  /// A table has as many records as it may.
  package static func noRoom(in table: RecordTable, of space: SpaceID) -> Refusal {
    if case .channelRoster(let id) = table {
      return Refusal(.full, "channel \(id) has reached its maximum number of members", field: "channelId")
    }
    return Refusal(.tooMany, "no room left in \(table.name) of \(space)")
  }

  package static let unknownOutcome = Refusal(
    .unknownOutcome, "no answer came in time: the request may or may not have been carried out",
    retryAfterSeconds: 1)

  package static func invalid(_ field: String, _ detail: String) -> Refusal {
    Refusal(.invalidField, detail, field: field)
  }
}
