import BelfryHTTP
import BelfryLive
import BelfryModel
import BelfryStore
import BelfrySystem

/// What a stream needs to know before it begins.
struct StreamOpening {
  let account: AccountID
  let credential: Credential
  let device: DeviceID?
  /// From where, as far as TCP knows.
  let address: String
  let cursor: FeedCursor?
  let wantsCounts: Bool
  let expiresAtMilliseconds: Int64
}

/// Carries a consumer's Server-Sent Events to its connection. The consumer decides what is sent, and when the stream ends.
final class NotificationStream: HTTPStreamSource, Consumer.Outlet, RegisteredStream {
  static let head: HTTPResponse = {
    var head = HTTPResponse(status: 200, type: "text/event-stream", body: [])
    head.hasLength = false
    return head
  }()

  private static let headers: [(name: String, value: String)] =
    HTTPResponse.headersAlways + [
      ("Content-Type", "text/event-stream"),
      // Proxies of this kind would hold events back until they have a buffer full.
      ("X-Accel-Buffering", "no"),
    ]

  private let consumer: Consumer
  private let place: ConnectionSlot
  private let counts: RequestCounts
  private let registry: StreamRegistry
  let address: String
  var registered: StreamRegistry.Place
  /// The connection, once there is one. The two refer to each other until the connection has finished and lets go.
  private var stream: HTTPStream?

  private init(_ consumer: Consumer, _ place: ConnectionSlot, from address: String, _ services: LoopServices)
  {
    self.consumer = consumer
    self.place = place
    self.address = address
    counts = services.counts
    registry = services.streams
    registered = StreamRegistry.Place(
      openedAtMilliseconds: services.store.estimatedMilliseconds ?? WallClock.nowMilliseconds())
  }

  static func open(
    _ opening: StreamOpening, on exchange: HTTPExchange, _ services: LoopServices
  ) throws(Refusal) {
    let place = try services.openSlot(of: opening.account, by: opening.credential)
    let consumer: Consumer
    do throws(Refusal) {
      consumer = try services.hub.openConsumer(
        account: opening.account, device: opening.device, after: opening.cursor,
        expiresAtMilliseconds: opening.expiresAtMilliseconds, wantsCounts: opening.wantsCounts,
        framing: ServerSentEvents.framing)
    } catch {
      place.close()
      throw error
    }
    services.counts.streams += 1
    let source = NotificationStream(consumer, place, from: opening.address, services)
    place.onRevoked = { [unowned consumer] in consumer.kick(.tokenRevoked) }
    services.streams.opened(source)
    consumer.outlet = source
    // A new stream is asked without being woken, so nothing that was ready before is forgotten.
    source.stream = exchange.stream(status: 200, headers: headers, source: source)
  }

  var account: AccountID { consumer.account }
  var device: DeviceID? { consumer.device }

  func end(_ end: StreamEnd) {
    switch end {
    case .replaced(let device): consumer.kick(.replaced, by: device)
    case .ended: consumer.kick(.ended)
    }
  }

  func consumerIsReady() { stream?.wake() }

  func pull(into buffer: UnsafeMutableRawBufferPointer) -> HTTPPull {
    // SAFETY: the buffer is the caller's for the length of this call, and does not outlive it here.
    var room = unsafe StreamBuffer(buffer)
    return switch consumer.pull(into: &room) {
    case .bytes(let count, let more): .bytes(count, more: more)
    case .wait: .wait
    case .end: .end
    }
  }

  func finished(_ end: HTTPStreamEnd) {
    counts.countClosed(consumer.kickReason)
    registry.closed(self)
    consumer.close()
    place.close()
  }
}
