import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

// Lists waiting invitations and applications, and answers one that is named by an account.

extension LoopServices {
  /// Carries out the operation that answers a request.
  ///
  /// - Parameters:
  ///   - name: the id of the request, or its account. A name that can be both is first taken as an id.
  ///   - answer: makes the operation for a request with this id.
  /// - Throws: the refusal of the first id, if no request waits.
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
    throw first ?? .invalid("requestId", "must name a pending request")
  }

  /// A page of the waiting requests of one kind in a space, for its owner and its admins.
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

// MARK: - Those of one account

extension LoopServices {
  /// A page of the invitations that wait for an account's answer, by their ids. Each page looks at as many
  /// places as it may hold invitations, so answered invitations make it shorter.
  func invitations(
    to account: AccountID, _ limit: Int, after last: EntityID?
  ) async throws(Refusal) -> HTTPResponse {
    let (places, now) = try await reading { () async throws(StoreError) in
      (try await self.store.invitations(to: account), try await self.store.nowMilliseconds())
    }
    let invitations = places.map { Invitation(account, to: $0) }.sorted { $0.number < $1.number }
    let rest = invitations.filter { last.map(\.number) ?? 0 < $0.number }
    let some = rest.prefix(limit)
    let records = try await records(some.flatMap(\.needs))
    return .page(
      "requests", some.compactMap { $0.shown(records, now) },
      cursor: some.count < rest.count ? some.last?.id.text : nil)
  }
}

/// An invitation of an account, which may have been answered.
private struct Invitation {
  let account: AccountID
  let place: InvitationPlace
  let id: RequestID

  init(_ account: AccountID, to place: InvitationPlace) {
    self.account = account
    self.place = place
    id = place.requestID(of: account)
  }

  var number: Int64 { EntityID(id.text)?.number ?? 0 }

  var needs: [RecordAddress] {
    [.settings(place.space), .request(id, of: place.space)]
      + (place.channel.map { [.channel($0, of: place.space)] } ?? [])
  }

  /// Nil if it is not waiting any more.
  func shown(_ records: Records, _ now: Int64) -> JSONValue? {
    guard let text = records.text(.request(id, of: place.space)), let name = name(records),
      case .object(var members)? = Listed.request(id.text, text, now, where: { $0.account == account })
    else { return nil }
    members[place.space.kind == .group ? "groupId" : "serverId"] = .string(place.space.name)
    if let channel = place.channel { members["channelId"] = .string(channel.text) }
    members["name"] = .string(name)
    return .object(members)
  }

  /// Nil if the place is gone.
  private func name(_ records: Records) -> String? {
    let space = place.space
    if space.kind == .group { return try? records.settings(GroupRecord.self, space).name }
    guard let server = try? records.settings(ServerRecord.self, space) else { return nil }
    guard let channel = place.channel else { return server.name }
    return try? records.channel(channel, of: space).name
  }
}

// MARK: - As they are shown

extension Listed {
  /// A request that waits; nil if it has expired or is not wanted.
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
