import BelfryHooks
import BelfryModel
import BelfryOutbound
import TestKit
import Testing

@testable import BelfryServer

/// A broker that may push to a scripted gateway.
protocol PushStage {}

extension PushStage {
  func withPush<R: Sendable>(
    loops: Int = 2, delayMilliseconds: Int = 300, limits: Limits = .unhurried, clock: ShiftedClock? = nil,
    _ configure: @Sendable (inout Configuration) throws -> Void = { _ in },
    _ body: @Sendable (TestBroker) async throws -> R
  ) async throws -> R {
    var options = RedisServer.Options()
    options.clock = clock
    return try await withBroker(
      loops: loops, limits: limits, redis: options,
      configure: {
        $0.push.allowedNetworks = try [#require(IPNetwork("127.0.0.0/8"))]
        $0.retryDelaysSeconds = [0.3]
        $0.push.delayMilliseconds = delayMilliseconds
        try configure(&$0)
      }, body)
  }

  func gateway(
    _ answer: @escaping @Sendable (JSONValue, Int) -> [Step] = { _, _ in
      [.kept(200, #"{"rejected":[]}"#), .next]
    }
  ) throws -> ScriptedServer {
    try ScriptedServer { request, number in
      answer((try? JSONParser.value(of: Array(request.body.utf8))) ?? .null, number)
    }
  }

  func put(
    _ account: String, device: String = "phone", key: String? = nil, _ server: ScriptedServer,
    _ broker: TestBroker, on connection: TestConnection? = nil
  ) throws {
    let body =
      #"{"kind":"matrix","url":"http://127.0.0.1:\#(server.port)","appId":"app","pushkey":"\#(key ?? account)"}"#
    let answer = try (connection ?? broker.connect()).ask(
      "PUT", "/v1/account/pushers/\(device)", as: try broker.token(account), body)
    try #require(answer.status == 200, "\(answer)")
  }

  func devices(_ account: String, _ broker: TestBroker) throws -> [String] {
    try broker.ask("GET", "/v1/account/pushers", as: try broker.token(account)).json["pushers"]?.elements
      .compactMap { $0["deviceId"]?.text } ?? []
  }

  @discardableResult
  func send(
    _ broker: TestBroker, _ fields: String, setting: String = #""pushEnable":true"#
  ) throws -> String {
    let sent = try broker.ask(
      "POST", "/v1/notifications", as: try broker.token("app", .app), "{\(fields),\"setting\":{\(setting)}}")
    try #require(sent.status == 201, "\(sent)")
    return try #require(sent.json["messageServerId"]?.text)
  }

  func read(_ id: String, by account: String, _ broker: TestBroker) throws {
    let answer = try broker.ask(
      "POST", "/v1/notifications/read", as: try broker.token(account),
      #"{"items":[{"messageServerId":"\#(id)"}]}"#)
    try #require(answer.json["read"] == 1, "\(answer)")
  }

  /// The posted requests, in words: a notification and its device, or the number of unread notifications.
  func posts(_ server: ScriptedServer) -> [String] {
    server.requests.map { request in
      let value = (try? JSONParser.value(of: Array(request.body.utf8)))?["notification"]
      let key = value?["devices"]?[0]?["pushkey"]?.text ?? "nobody"
      return (value?["event_id"]?.text ?? "badge \(value?["counts"]?["unread"]?.number ?? -1)") + " to " + key
    }.sorted()
  }

  /// Waits until nothing is left to be pushed, and expects exactly these pushes.
  /// - Parameter passing: leaves out some of the posted requests.
  func expect(
    _ wanted: [String], at server: ScriptedServer, on broker: TestBroker,
    passing: (String) -> Bool = { _ in false }
  ) async throws {
    try await broker.waitUntilNothingIsToBeSent()
    #expect(posts(server).filter { !passing($0) } == wanted.sorted())
  }

  /// The number of pushes that did not arrive, counting those that are tried again.
  func failures(_ broker: TestBroker) throws -> Int64 {
    try count("failed", of: broker) + count("givenUp", of: broker)
  }

  /// One of the broker's counts of pushes, over all loops.
  func count(_ name: String, of broker: TestBroker) throws -> Int64 {
    let stats = try broker.ask("GET", "/v1/stats", as: try broker.token("ops", .operation)).json
    return stats["loops"]?.elements.reduce(0) { $0 + ($1["push"]?[name]?.number ?? 0) } ?? 0
  }
}
