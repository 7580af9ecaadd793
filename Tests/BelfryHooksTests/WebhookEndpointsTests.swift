import BelfryModel
import BelfryOutbound
import Testing

@testable import BelfryHooks

/// All loops of a broker look for changed webhooks at the same time.
@Suite struct WebhookEndpointsTests {
  @Test func theAnswerToAnEarlierLookDoesNotReplaceThatToALaterOne() throws {
    let url = try #require(OutboundURL("https://archive.example/copies"))
    var endpoint = try WebhookEndpoint(
      id: #require(EntityID("7")), url: url, format: .belfry, nowMilliseconds: 0)
    let enabled = WebhookEndpoints.Kept(endpoint: endpoint, record: endpoint.record)
    endpoint.disabledBecause = .asked
    let disabled = WebhookEndpoints.Kept(endpoint: endpoint, record: endpoint.record)

    let endpoints = WebhookEndpoints()
    let (earlier, later) = (ContinuousClock.now, ContinuousClock.now + .milliseconds(1))
    endpoints.replaceKept(by: [disabled], version: "2", lookedAt: later)
    endpoints.replaceKept(by: [enabled], version: "1", lookedAt: earlier)
    #expect(endpoints.all == [endpoint])
    #expect(endpoints.version == "2")

    endpoints.replaceKept(by: [enabled], version: "3", lookedAt: later + .milliseconds(1))
    #expect(endpoints.enabled == [enabled.endpoint])
  }
}
