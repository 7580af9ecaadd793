import BelfryModel
import BelfryStore

/// A command's step in the terms of the moment: who is there, what waits for an answer.
struct Context {
  let step: CommandStep
  let cast: Cast
  /// The step's own number in the random walk.
  let number: Int
  /// The one that is there now of those that follow one another in a place.
  let space: SpaceID
  /// The one before it.
  let closed: SpaceID?
  var members: [AccountID] = []
  var owner: AccountID?
  var banned: [AccountID] = []
  var requests: [RequestRecord] = []
  var channels: [EntityID] = []
  var codes: [InviteCode] = []
  var files: [EntityID] = []

  /// The space's id; a command knows the kind of its space.
  var id: EntityID { EntityID(space.name) ?? cast.servers[0] }
  var isOn: Bool { step.isOn }
  var text: String { step.text }
  var requestId: String { "r\(number)" }
  /// It lasts for the whole of any random walk: when it ends is for other tests, where the clock obeys. Each step's is
  /// another, for to be muted again until the same moment is nothing new, and the clock may not have moved on.
  var durationMilliseconds: Int64 { 3_600_000 + Int64(number) }

  /// Everything but what concerns the account is muted more often than all of it. Without an end: a time is not the same
  /// in two stores.
  var preferences: [Preference] {
    let spaces: [SpaceID?] = [nil, space, .server(cast.servers[0]), .personal(subject)]
    let types: [[Int]?] = [nil, [Catalogue.custom.code], [308, 14, 12], nil]
    let level = pick([Preference.Level.parties, .none, .all, .parties])
    let one = Preference(
      space: spaces[step.choice % spaces.count], types: types[step.account % types.count], level: level)
    return step.isOn ? [one] : step.isApt ? [] : [one, Preference(level: .parties), one]
  }

  func pick<Value>(_ values: [Value]) -> Value { values[step.choice % values.count] }

  // MARK: Who

  var actor: Actor { cast.actor(doer) }

  /// The account that acts; for a trusted caller, the account for which it may act.
  var subject: AccountID { doer ?? account }

  private var doer: AccountID? {
    switch step.by {
    case .backEnd: nil
    case .owner: owner ?? cast.accounts[0]
    case .member(let number): one(of: members, number)
    case .anybody(let number): cast.accounts[number]
    }
  }

  var account: AccountID { step.isApt ? one(of: members, step.account) : cast.accounts[step.account] }
  var others: [AccountID] { some(of: members) }
  /// The accounts that might join.
  var guests: [AccountID] { some(of: cast.accounts.filter { !members.contains($0) }) }
  /// The account that asks to be let in.
  var applicant: Actor {
    guard step.isApt else { return actor }
    return cast.actor(step.choice % 4 == 0 ? exiles.first : guests.first)
  }
  /// The accounts that may not come back.
  var exiles: [AccountID] { some(of: banned) }

  private func some(of accounts: [AccountID]) -> [AccountID] {
    step.others.map { step.isApt ? one(of: accounts, $0) : cast.accounts[$0] }
  }

  private func one(of accounts: [AccountID], _ number: Int) -> AccountID {
    accounts.isEmpty ? cast.accounts[number] : accounts[number % accounts.count]
  }

  // MARK: What

  /// One that is there, or one that may be opened.
  var channel: EntityID {
    let all = cast.channels(of: space)
    if step.isApt, !channels.isEmpty { return channels[step.channel % channels.count] }
    return all.isEmpty ? id : all[step.channel % all.count]
  }

  var allChannels: [EntityID] { step.isApt ? channels : cast.channels(of: space) }

  /// One of a few, so that what one makes another finds.
  var code: InviteCode { InviteCode(bits: UInt64(1 + step.choice % 3)) }
  var knownCode: InviteCode { step.isApt && !codes.isEmpty ? pick(codes) : code }
  var file: EntityID { EntityID(bits: UInt64(2 + 2 * (step.choice % 4))) }
  var knownFile: EntityID { step.isApt && !files.isEmpty ? pick(files) : file }

  /// A request of the kind that waits, if the step is apt; else the one that the actor would have.
  func request(_ kind: RequestRecord.Kind) -> RequestRecord {
    let waiting = requests.filter { $0.kind == kind }
    if step.isApt, !waiting.isEmpty { return pick(waiting) }
    return RequestRecord(kind, of: subject, channel: kind == .channelInvitation ? channel : nil)
  }

  func id(of request: RequestRecord) -> RequestID {
    RequestID(request.kind, of: request.account, in: space, channel: request.channel)
  }

  /// The invited account answers; now and then another one does.
  func invitee(_ request: RequestRecord) -> Actor { step.isApt ? cast.actor(request.account) : actor }
}

extension World {
  func context(_ step: CommandStep, _ command: Command, _ number: Int) async throws -> Context {
    let (space, closed) = try await present(command.kind, step.space)
    var context = Context(step: step, cast: cast, number: number, space: space, closed: closed)
    let roster = try await keys(of: .roster, in: space)
    context.members = roster.compactMap { AccountID($0.field) }
    context.owner = roster.first { [.owner, .host].contains(MemberRecord(text: $0.text)?.role) }
      .flatMap { AccountID($0.field) }
    context.banned = try await keys(of: .banned, in: space).compactMap { AccountID($0.field) }
    context.requests = try await keys(of: .requests, in: space).compactMap {
      ExpiringText(text: $0.text).flatMap { RecordJSON.value(RequestRecord.self, $0.rest) }
    }
    context.channels = try await keys(of: .channels, in: space).compactMap { EntityID($0.field) }
    context.codes = try await keys(of: .codes, in: space).compactMap { InviteCode(text: $0.field) }
    context.files = try await keys(of: .files, in: space).compactMap { EntityID($0.field) }
    return context
  }

  /// The first of those that follow one another in the place which has not ended, and the one before.
  func present(_ kind: SpaceKind, _ place: Int) async throws -> (space: SpaceID, closed: SpaceID?) {
    let spaces = cast.spaces(kind, place)
    let records = try await store.records(spaces.map { .settings($0) })
    let index = spaces.firstIndex { !(records.text(.settings($0))?.contains("\"removedAt\"") ?? false) }
    let present = index ?? spaces.count - 1
    return (spaces[present], present > 0 ? spaces[present - 1] : nil)
  }

  private func keys(of table: RecordTable, in space: SpaceID) async throws -> [(field: String, text: String)]
  {
    try await allPages(of: TableAddress(space, table)).sorted { $0.key < $1.key }
      .map { (field: $0.key, text: $0.value) }
  }
}
