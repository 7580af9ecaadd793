import BelfryLoop
import Testing

@testable import BelfryOutbound

/// A client on a loop of its own.
actor Sender {
  nonisolated let loop: EventLoop
  private var client: OutboundClient?

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  fileprivate init(on loop: EventLoop) { self.loop = loop }

  fileprivate func open(_ allowed: [String], _ limits: OutboundLimits) throws {
    let networks = try allowed.map { try #require(IPNetwork($0)) }
    client = OutboundClient(
      loop: loop, policy: AddressPolicy(allowedNetworks: networks), userAgent: "belfry/test", limits: limits)
  }

  func close() {
    client?.close()
    client = nil
  }

  func send(_ request: OutboundRequest) async -> Result<OutboundResponse, OutboundError> {
    guard let client else { return .failure(OutboundError(.cancelled, "not open")) }
    do throws(OutboundError) {
      return .success(try await client.send(request))
    } catch {
      return .failure(error)
    }
  }

  var statistics: OutboundStatistics? { client?.statistics }
}

/// Gives the body a client that may go to these networks.
func withSender<R>(
  allowing allowed: [String] = ["127.0.0.0/8"], limits: OutboundLimits = OutboundLimits(),
  _ body: (Sender) async throws -> R
) async throws -> R {
  let loop = try EventLoop(name: "outbound test")
  try loop.spawnThread()
  let sender = Sender(on: loop)
  defer {
    loop.stop()
    loop.join()
  }
  try await sender.open(allowed, limits)
  do {
    let result = try await body(sender)
    await sender.close()
    return result
  } catch {
    await sender.close()
    throw error
  }
}

extension OutboundRequest {
  static func post(
    _ url: String, _ body: String = "{}", deadline: Duration = .seconds(60), answerMaxBytes: Int = 65_536
  ) throws -> OutboundRequest {
    OutboundRequest(
      .post, try #require(OutboundURL(url)), headers: [("Content-Type", "application/json")],
      body: Array(body.utf8), deadline: deadline, answerMaxBytes: answerMaxBytes)
  }
}
