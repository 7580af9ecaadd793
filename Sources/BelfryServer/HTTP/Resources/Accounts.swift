import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

/// The options and preferences that an account chooses for itself.
enum Accounts {
  static let handlers: [Handler] = [
    AccountRoutes.show.handled(by: show),
    AccountRoutes.update.handled(by: update),
    AccountRoutes.preferences.handled(by: preferences),
    AccountRoutes.prefer.handled(by: prefer),
    AccountRoutes.invitations.handled { request, services, limit, last throws(Refusal) in
      try await services.invitations(to: try request.known().account(), limit, after: last)
    },
    AccountRoutes.blocked.handled(by: blocked),
    AccountRoutes.block.handled { request, services, account throws(Refusal) in
      try await block(account, true, request, services)
    },
    AccountRoutes.unblock.handled { request, services, account throws(Refusal) in
      try await block(account, false, request, services)
    },
  ]

  private static func show(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let account = try request.known().account()
    return .json(try await services.records([.settings(.personal(account))]).account(account).info)
  }

  private static func update(
    _ request: Request, _ services: LoopServices, autoAcceptInvitation: Bool?,
    mayWrite: AccountRecord.Circle?, mayInvite: AccountRecord.Circle?, mayAdd: AccountRecord.Circle?
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    var operation = UpdateAccount(
      try caller.account(), actor: caller.actor, autoAcceptInvitation: autoAcceptInvitation)
    operation.mayWrite = mayWrite
    operation.mayInvite = mayInvite
    operation.mayAdd = mayAdd
    return .json(try await services.runner.run(operation).output.info)
  }

  private static func preferences(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let account = try request.known().account()
    let records = try await services.records([.preferences(of: account)])
    let now = try await reading { () async throws(StoreError) in try await services.store.nowMilliseconds() }
    return response(try records.preferences(of: account).current(nowMilliseconds: now))
  }

  private static func prefer(
    _ request: Request, _ services: LoopServices, preferences: [Preference]
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    let operation = SetPreferences(preferences, of: try caller.account(), actor: caller.actor)
    return response(try await services.runner.run(operation).output)
  }

  private static func response(_ preferences: [Preference]) -> HTTPResponse {
    .json(["preferences": .array(preferences.map(\.info))])
  }

  private static func blocked(
    _ request: Request, _ services: LoopServices, limit: Int, cursor: PageCursor?
  ) async throws(Refusal) -> HTTPResponse {
    let account = try request.known().account()
    let page = try await services.page(of: .banned, in: .personal(account), limit, after: cursor)
    return .page("accids", page.records.map { .string($0.field) }, cursor: page.next?.text)
  }

  private static func block(
    _ account: AccountID, _ isBlocked: Bool, _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    _ = try await services.runner.run(
      BlockAccount(account, by: try caller.account(), actor: caller.actor, isBlocked: isBlocked))
    return .noContent
  }
}

extension AccountRecord {
  fileprivate var info: JSONValue {
    [
      "autoAcceptInvitation": .bool(autoAcceptInvitation), "mayWrite": .string(mayWrite.rawValue),
      "mayInvite": .string(mayInvite.rawValue), "mayAdd": .string(mayAdd.rawValue),
    ]
  }
}
