import BelfryFeed
import BelfryHTTP
import BelfryInterface
import BelfryModel

/// The requests of operators.
enum Operators {
  static let handlers: [Handler] = [
    OperatorRoutes.explain.handled { _, services, message, account throws(Refusal) in
      let explanation = try await services.feed.explain(message, account: account)
      return .json(rendered: Array(try RecordJSON.text(explanation).utf8))
    },
    OperatorRoutes.statistics.handled { _, services throws(Refusal) in
      .json(rendered: Array(try RecordJSON.text(await services.broker.statistics()).utf8))
    },
    OperatorRoutes.nodes.handled { _, services throws(Refusal) in
      .json(rendered: Array(try RecordJSON.text(await services.administration.nodes()).utf8))
    },
    BrokerRoutes.metrics.handled { _, services throws(Refusal) in
      let broker = services.broker
      let warnings = Metrics.Warnings(
        memoryUsedShare: broker.condition.memoryUsedShare, freeDiskBytes: broker.freeDiskBytes(),
        dataRisks: broker.condition.dataRisks, keyspaceLosses: broker.keyspace.lossCount,
        webhooksGivenUp: broker.webhooks.givenUp)
      let text = Metrics.text(
        of: await broker.statistics(), warnings, certificateExpiry: broker.certificate?.expirySeconds)
      return HTTPResponse(status: 200, type: BrokerRoutes.metricsMediaType, body: Array(text.utf8))
    },
  ]
}
