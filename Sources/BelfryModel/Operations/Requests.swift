// Invitations and applications: what asks puts a request among the requests of the space, what answers
// takes it away. How long it waits is part of the record, so nothing has to be running when it ends.

extension Draft {
  /// The words that come with an invitation, an application or an answer.
  package func check(postscript: String?) throws(Refusal) {
    try NotificationContent.check(postscript, "postscript", characters: Limits.messageCharacters)
  }

  /// Lets a request wait for its answer, so long and no longer; one of the same purpose that waits already
  /// begins anew. Needs the request's own record and the count of the requests.
  @discardableResult
  package mutating func ask(
    _ request: RequestRecord, lastingMilliseconds milliseconds: Int64
  ) throws(Refusal) -> RequestID {
    try check(postscript: request.message)
    let id = RequestID(request.kind, of: request.account, in: space, channel: request.channel)
    let text = ExpiringText(
      expiresAtMilliseconds: nowMilliseconds + milliseconds, rest: try RecordJSON.text(request))
    try put(.request(id, of: space), text.text, atMost: Limits.requestsPerSpace)
    return id
  }

  /// The request that is being answered: with the answer it is over. Needs its record.
  package mutating func answer(
    _ id: RequestID, _ kind: RequestRecord.Kind
  ) throws(Refusal) -> RequestRecord {
    let request = try records.request(id, kind, in: space, nowMilliseconds: nowMilliseconds)
    change(.request(id, of: space), to: nil)
    return request
  }
}
