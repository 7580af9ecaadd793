/// The reason why a call or a feed failed.
///
/// ```swift
/// do {
///   _ = try await client.send(NewNotification(serverId: server, body: "Bring gloves."))
/// } catch where error.code == .notMember {
///   print("join the server first")
/// } catch where error.leavesOutcomeOpen {
///   print("perhaps sent; send it again with the id \(error.messageClientId ?? "")")
/// } catch {
///   print(error)
/// }
/// ```
///
/// Decide by ``code``. Print the error itself for people: that is ``detail``, and ``advice`` if there is any.
public struct BelfryError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable word that says what went wrong: the `code` of the broker's answer, or one of the client's own.
  ///
  /// ```swift
  /// let error = BelfryError(.rateLimited, "too fast", retryAfterSeconds: 2)
  /// switch error.code {
  /// case .rateLimited, .busy, .unavailable:
  ///   try await Task.sleep(for: .seconds(error.retryAfterSeconds ?? 1))
  /// default:
  ///   throw error
  /// }
  /// ```
  ///
  /// A newer broker may use words that are not listed here, so a `switch` needs a `default`.
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The word itself, such as `notFound`.
    public var rawValue: String
    /// Makes a code from its word. Any word is accepted.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The word itself.
    public var description: String { rawValue }

    /// The token is missing, wrong or expired. Get a new token; the same call can then succeed.
    public static let unauthorized = Code(rawValue: "unauthorized")
    /// The token was issued before the account revoked its tokens. Get a token that was issued later.
    public static let tokenRevoked = Code(rawValue: "tokenRevoked")
    /// The account, or this kind of token, may not do this. ``BelfryError/detail`` says who may.
    public static let forbidden = Code(rawValue: "forbidden")
    /// The thing does not exist, or the account may not know of it. Check the id.
    public static let notFound = Code(rawValue: "notFound")
    /// The account is not a member. Join, or add the account, before you try again.
    public static let notMember = Code(rawValue: "notMember")
    /// The account is muted. Wait until the mute ends, or ask the owner or an admin to lift it.
    public static let muted = Code(rawValue: "muted")
    /// The account is banned. Only the owner or an admin can lift a ban.
    public static let banned = Code(rawValue: "banned")
    /// A receiver does not take this from the account: it blocks the account, or its options exclude it.
    /// ``BelfryError/detail`` names such receivers. Leave them out.
    public static let blocked = Code(rawValue: "blocked")
    /// A trusted caller has disabled the group. Nobody can send to it or join it.
    public static let disabled = Code(rawValue: "disabled")
    /// A callback of this deployment said no. ``BelfryError/detail`` is its explanation, if it gives one.
    public static let refusedByCallback = Code(rawValue: "refusedByCallback")
    /// The call does not fit what is already there, or others kept changing the same thing. If
    /// ``BelfryError/retryAfterSeconds`` is set, try again after that time. Otherwise read the present state first.
    public static let conflict = Code(rawValue: "conflict")
    /// The same `messageClientId` was used before with other content. Use another id for a new notification.
    public static let duplicateContent = Code(rawValue: "duplicateContent")
    /// The channel has as many members as it takes. Remove a member, or raise `maxMembers`.
    public static let full = Code(rawValue: "full")
    /// A value in the call is not allowed. ``BelfryError/field`` names it. Change it: the same call always fails.
    public static let invalidField = Code(rawValue: "invalidField")
    /// The request is too large. Send less at once.
    public static let tooLarge = Code(rawValue: "tooLarge")
    /// A limit is reached. Remove something first. Waiting helps only if something changed too often.
    public static let tooMany = Code(rawValue: "tooMany")
    /// A receiver has as much unread as its mailbox holds. Try again after it has marked something read.
    public static let mailboxFull = Code(rawValue: "mailboxFull")
    /// The account asks too often. Try again after ``BelfryError/retryAfterSeconds``.
    public static let rateLimited = Code(rawValue: "rateLimited")
    /// All callers together ask for more than the broker can hold. Try again after ``BelfryError/retryAfterSeconds``.
    public static let busy = Code(rawValue: "busy")
    /// The broker cannot reach Redis, or it is shutting down, or a proxy cannot reach the broker. Try again after
    /// ``BelfryError/retryAfterSeconds``.
    public static let unavailable = Code(rawValue: "unavailable")
    /// The broker does not know if it was done. Send a notification again with ``BelfryError/messageClientId``. After any
    /// other call, read the present state first.
    public static let unknownOutcome = Code(rawValue: "unknownOutcome")

    /// There was no answer: the broker could not be reached, closed the connection, or was silent for too long. A call
    /// that changes something may have been done, unless ``BelfryError/nothingWasSent``.
    public static let transport = Code(rawValue: "transport")
    /// The answer is not one of Belfry's, such as the page of a proxy or a document that was cut off. Check
    /// ``BelfryClient/baseURL``. A call that changes something may have been done.
    public static let `protocol` = Code(rawValue: "protocol")
    /// The task was cancelled. A call that changes something may have been done.
    public static let cancelled = Code(rawValue: "cancelled")
  }

  /// The word that says what went wrong, to decide by.
  public var code: Code
  /// The HTTP status. Nil if there was no answer.
  public var status: Int?
  /// A sentence for a person that says what went wrong.
  public var detail: String
  /// The field of the request that is wrong, as the HTTP interface spells it, such as `toAccids[3]`.
  public var field: String?
  /// With ``Code/refusedByCallback``, the callback's own code for its reason. Nil if it gives none.
  public var callbackCode: String?
  /// The number of seconds after which the broker suggests to try again. At most 300.
  public var retryAfterSeconds: Int?
  /// The id with which to repeat a send that may have been done. It is then done once.
  public var messageClientId: String?
  /// True if the broker could not be reached, and nothing of the request was sent. Then nothing was done.
  public var nothingWasSent = false

  /// Makes an error, for example in tests.
  public init(
    _ code: Code, _ detail: String, status: Int? = nil, field: String? = nil, retryAfterSeconds: Int? = nil
  ) {
    self.code = code
    self.detail = detail
    self.status = status
    self.field = field
    self.retryAfterSeconds = retryAfterSeconds
  }

  /// The code, the field, what went wrong, and what to do about it.
  public var description: String {
    "\(code)\(field.map { " (\($0))" } ?? ""): \(detail)\(advice.map { "; \($0)" } ?? "")"
  }
}

extension BelfryError {
  /// True if the call may have been done in spite of the error. A proxy's 502 and 504 mean that it got no answer from the
  /// broker, which may have received the request. A 500 is a fault of the broker, which may have happened after the work.
  public var leavesOutcomeOpen: Bool {
    !nothingWasSent
      && ([.transport, .protocol, .cancelled, .unknownOutcome].contains(code)
        || status.map([500, 502, 504].contains) ?? false)
  }

  /// The error of several tries of one request. If an earlier try may have been carried out, the refusal of the last one
  /// does not mean that nothing was done. Neither does a token that has expired between the two: the broker refuses it before it
  /// looks for the work. Other refusals that last come from that look.
  func after(_ earlier: BelfryError) -> BelfryError {
    guard earlier.leavesOutcomeOpen, mayPass || status == 401, !leavesOutcomeOpen else { return self }
    var error = self
    if code == .transport {
      error.nothingWasSent = false
      return error
    }
    error.code = .unknownOutcome
    error.detail =
      "an earlier try may have been carried out (\(earlier.detail)); the last one failed: \(detail)"
    return error
  }

  /// True if the same request may succeed later without anyone changing anything.
  package var mayPass: Bool {
    if code == .transport { return true }
    guard let status else { return false }
    // Request timeout, too early, too many requests. No waiting helps against "not implemented" and "version not
    // supported"; it may help against every other error of a server.
    return [408, 425, 429].contains(status) || (500...599).contains(status) && ![501, 505].contains(status)
  }
}
