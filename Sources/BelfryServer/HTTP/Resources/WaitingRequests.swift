import BelfryHTTP
import BelfryInterface
import BelfryModel

// Invitations and applications that wait: how they are listed, and how one is answered that is named by an account.

extension LoopServices {
  /// Carries out what answers a request.
  ///
  /// - Parameters:
  ///   - name: the id of the request, or its account. A name that can be both is an id first.
  ///   - answer: the operation for a request of this id.
  /// - Throws: what the first id was refused with, if none waits.
  func answer<Answering: SpaceOperation>(
    _ name: RequestName, _ kind: RequestRecord.Kind, in space: SpaceID, channel: EntityID? = nil,
    of request: Request, by answer: (RequestID) -> Answering
  ) async throws(Refusal) -> HTTPResponse {
    var first: Refusal?
    for id in name.possibleIDs(kind, in: space, channel: channel) {
      do throws(Refusal) {
        _ = try await run(answer(id), of: request)
        return .noContent
      } catch {
        guard error.code == .notFound, error.field == "requestId" else { throw error }  // own text
        first = first ?? error
      }
    }
    throw first ?? .invalid("requestId", "does not name a pending request")
  }

  /// A page of the requests of one kind that wait in a space, for its owner and its admins.
  func waitingRequests<Record: SpaceRecord>(
    _ kind: RequestRecord.Kind, in space: SpaceID, _: Record.Type, _ limit: Int, after cursor: PageCursor?,
    _ request: Request
  ) async throws(Refusal) -> HTTPResponse {
    try await listing(
      "requests", of: .requests, in: space, limit, after: cursor,
      for: { (_: Record) -> Access in .administrators }, request, expires: true
    ) { id, text, now in Listed.request(id, text, now) { $0.kind == kind } }
  }
}

extension Listed {
  /// A request that waits; nil of one that has expired or that is not wanted.
  static func request(
    _ id: String, _ text: String, _ now: Int64, where isWanted: (RequestRecord) -> Bool
  ) -> JSONValue? {
    guard let waiting = ExpiringText(text: text), waiting.expiresAtMilliseconds > now,
      let record = RecordJSON.value(RequestRecord.self, waiting.rest), isWanted(record)
    else { return nil }
    var members: JSONObject = [
      "requestId": .string(id), "accid": .string(record.account.text),
      "expiresAt": .integer(waiting.expiresAtMilliseconds),
    ]
    if !record.inviters.isEmpty { members["inviters"] = .accids(record.inviters) }
    if let message = record.message { members["message"] = .string(message) }
    return .object(members)
  }
}
