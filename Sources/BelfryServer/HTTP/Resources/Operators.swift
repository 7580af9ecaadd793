import BelfryModel

/// For those who run the broker.
enum Operators {
  static func explain(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    guard let account = try request.query.account("account") else {
      throw .invalid("account", "is needed: who does or does not see it?")
    }
    let explanation = try await services.hub.explain(try request.message(), account: account)
    return .json(rendered: Array(try RecordJSON.text(explanation).utf8))
  }

  static func statistics(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    return .json(rendered: Array(try RecordJSON.text(await services.broker.statistics()).utf8))
  }

  static func metrics(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let statistics = await services.broker.statistics()
    return Reply(
      status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8",
      body: Array(Metrics.text(of: statistics).utf8))
  }
}
