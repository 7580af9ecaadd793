import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore
import BelfrySystem

/// The streams of an account, on all brokers, and its tokens.
enum AccountStreams {
  static let handlers: [Handler] = [
    AccountStreamRoutes.list.handled(by: list),
    AccountStreamRoutes.end.handled { request, services throws(Refusal) in
      try await end(on: nil, request, services)
    },
    AccountStreamRoutes.endOnDevice.handled { request, services, device throws(Refusal) in
      try await end(on: device, request, services)
    },
    AccountStreamRoutes.revoke.handled(by: revoke),
  ]

  private static func list(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let account = try request.known().account()
    let streams = try await reading { () async throws(StoreError) in
      try await services.administration.liveStreams(of: [account])[0]
    }
    let oldestFirst = streams.filter { !$0.isWaitingPage }.sorted {
      $0.openedAtMilliseconds < $1.openedAtMilliseconds
    }
    return .json(["streams": .array(oldestFirst.map { .object($0.members) })])
  }

  private static func end(
    on device: DeviceID?, _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let account = try request.known().account()
    let count = try await reading { () async throws(StoreError) in
      try await services.administration.endStreams(of: account, on: device)
    }
    return .json(["ended": .integer(Int64(count))])
  }

  private static func revoke(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let account = try request.known().account()
    // A token gives its issue time in whole seconds, so all tokens of the current second become void.
    let before = (WallClock.nowMilliseconds() / 1_000 + 1) * 1_000
    try await reading { () async throws(StoreError) in
      try await services.administration.revoke(Revocation(of: account, before: before))
    }
    request.notePartlyDone()
    try await reading { () async throws(StoreError) in
      try await services.broker.refreshRevocations(from: services.administration)
    }
    // After this wait, a token that is requested after the answer is valid.
    let rest = max(before - WallClock.nowMilliseconds(), 0)
    try? await services.loop.sleep(for: .milliseconds(rest))
    return .json(["issuedBefore": .integer(before)])
  }
}

extension LiveStream {
  fileprivate var members: JSONObject {
    var members: JSONObject = [
      "streamId": .string(id), "openedAt": .integer(openedAtMilliseconds), "address": .string(address),
      "broker": .string(registration.broker),
    ]
    if let device { members["deviceId"] = .string(device.text) }
    return members
  }
}
