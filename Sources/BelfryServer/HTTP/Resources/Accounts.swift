import BelfryModel
import BelfryStore

/// What an account chooses for itself.
enum Accounts {
  static let autoAccept = Field(
    "autoAcceptInvitation", .flag, "whether whoever invites the account into a group has it there at once")
  static let mayWrite = Field(
    "mayWrite", Kind<AccountRecord.Circle>.choice, "who may send to the account directly")
  static let mayInvite = Field(
    "mayInvite", Kind<AccountRecord.Circle>.choice,
    "who may ask the account into servers, channels and groups")
  static let mayAdd = Field(
    "mayAdd", Kind<AccountRecord.Circle>.choice,
    "who of these may put it there at once where nobody is asked; others ask it")

  static let shape = Shape.resource(
    "Account",
    [
      .always("autoAcceptInvitation", .flag, autoAccept.property.meaning),
      .always("mayWrite", .choice(AccountRecord.Circle.self), mayWrite.property.meaning),
      .always("mayInvite", .choice(AccountRecord.Circle.self), mayInvite.property.meaning),
      .always("mayAdd", .choice(AccountRecord.Circle.self), mayAdd.property.meaning),
    ])

  static func show(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let account = try request.known().account()
    let records = try await reading { () async throws(StoreError) in
      try await services.store.records([.settings(.personal(account))])
    }
    return .json(try records.account(account).info)
  }

  static func update(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let caller = try request.known()
    var operation = UpdateAccount(
      try caller.account(), actor: caller.actor, autoAcceptInvitation: try request[autoAccept])
    operation.mayWrite = try request[mayWrite]
    operation.mayInvite = try request[mayInvite]
    operation.mayAdd = try request[mayAdd]
    return .json(try await services.runner.run(operation).output.info)
  }

  static func listBlocked(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let account = try request.known().account()
    let page = try await services.page(of: .banned, in: .personal(account), request)
    return .page("accids", page.records.map { .string($0.field) }, cursor: page.next?.text)
  }

  static func block(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    try await set(true, request, services)
  }

  static func unblock(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    try await set(false, request, services)
  }

  private static func set(
    _ isBlocked: Bool, _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> Reply {
    let caller = try request.known()
    _ = try await services.runner.run(
      BlockAccount(
        try request.account, by: try caller.account(), actor: caller.actor, isBlocked: isBlocked))
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
