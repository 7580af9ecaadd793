// Invitations and applications. Asking adds a record to the requests of the space, and answering removes it. The record
// says until when it waits, so nothing has to be running when it expires.

extension Draft {
  /// Checks the length of the words that come with an invitation, an application or an answer.
  package func check(postscript: String?) throws(Refusal) {
    try NotificationContent.check(postscript, "postscript", characters: Limits.messageCharacters)
  }

  /// Adds a request that waits for so long, or renews one of the same kind, account and channel, which keeps
  /// its inviters. Needs the request's record and the count of the requests.
  /// - Throws: `tooMany` if as many wait as may; `conflict` if another request waits under the same id.
  @discardableResult
  package mutating func ask(
    _ request: RequestRecord, lastingMilliseconds milliseconds: Int64
  ) throws(Refusal) -> RequestID {
    try check(postscript: request.message)
    let id = RequestID(request.kind, of: request.account, in: space, channel: request.channel)
    var request = request
    if let waiting = try waitingRequest(id) {
      guard waiting.isSamePurpose(as: request) else {
        throw Refusal(
          .conflict,
          "another invitation or application is pending under the id \(id.text): try again when it was answered or has expired"
        )
      }
      request.keepInviters(of: waiting)
      // A second inviter who says nothing does not take back the words of the first. An applicant may.
      if request.kind != .application { request.message = request.message ?? waiting.message }
    }
    let text = ExpiringText(
      expiresAtMilliseconds: nowMilliseconds + milliseconds, rest: try RecordJSON.text(request))
    try put(.request(id, of: space), text.text, atMost: mostRequests)
    noteInvitation(request)
    return id
  }

  /// The owner, the admins and trusted callers have a quarter of the table to themselves. Otherwise one member who may invite,
  /// or strangers who apply, could take all places.
  private var mostRequests: Int {
    get throws(Refusal) {
      if actor.isTrusted { return Limits.requestsPerSpace }
      let role = try actingMember()?.role ?? .member
      return [.owner, .admin, .host].contains(role)
        ? Limits.requestsPerSpace : Limits.requestsPerSpace / 4 * 3
    }
  }

  /// Adds an application, or changes one that waits.
  /// - Returns: true if the owner and the admins are to be told of it. Needs the request's record and the count of the requests.
  mutating func enterApplication(_ application: RequestRecord) throws(Refusal) -> Bool {
    let lasting = limits.invitationMilliseconds
    if try isWaiting(application) { return false }
    if try changeWords(of: application, lastingMilliseconds: lasting) { return false }
    try ask(application, lastingMilliseconds: lasting)
    return true
  }

  /// Gives an application that waits other words, if the owner and the admins were told of it a moment ago. They find the words
  /// in the list of applications. They are not told again so soon, or one applicant could fill the log of the space.
  /// - Returns: true if that is all that there is to do. Needs the request's record.
  private mutating func changeWords(
    of application: RequestRecord, lastingMilliseconds milliseconds: Int64
  ) throws(Refusal) -> Bool {
    let id = RequestID(application.kind, of: application.account, in: space)
    let address = RecordAddress.request(id, of: space)
    guard let text = try records.lasting(address, nowMilliseconds: nowMilliseconds),
      let waiting = RecordJSON.value(RequestRecord.self, text.rest), waiting.isSamePurpose(as: application),
      nowMilliseconds - (text.expiresAtMilliseconds - milliseconds) < Limits.applicationPauseMilliseconds
    else { return false }
    try check(postscript: application.message)
    let changed = ExpiringText(
      expiresAtMilliseconds: text.expiresAtMilliseconds, rest: try RecordJSON.text(application))
    change(address, to: changed.text)
    return true
  }

  /// Whether this very request waits already: of the same account, with the same words. Needs its record.
  private func isWaiting(_ request: RequestRecord) throws(Refusal) -> Bool {
    let id = RequestID(request.kind, of: request.account, in: space, channel: request.channel)
    return try waitingRequest(id) == request
  }

  /// The request that waits under the id, if any. Needs its record.
  func waitingRequest(_ id: RequestID) throws(Refusal) -> RequestRecord? {
    let waiting = try records.lasting(.request(id, of: space), nowMilliseconds: nowMilliseconds)
    return waiting.flatMap { RecordJSON.value(RequestRecord.self, $0.rest) }
  }

  /// Removes the request that is answered. Needs its record.
  /// - Throws: `notFound` if it does not wait.
  package mutating func answer(
    _ id: RequestID, _ kind: RequestRecord.Kind
  ) throws(Refusal) -> RequestRecord {
    let request = try records.request(id, kind, in: space, nowMilliseconds: nowMilliseconds)
    change(.request(id, of: space), to: nil)
    return request
  }
}
