import BelfryHTTP
import BelfryLive
import BelfryModel

/// Carries a consumer's Server-Sent Events to its connection. The consumer decides which events are sent, and
/// when the stream ends.
final class NotificationStream: HTTPStreamSource, Consumer.Outlet {
  static let head: HTTPResponse = {
    var head = HTTPResponse(status: 200, type: "text/event-stream", body: [])
    head.hasLength = false
    return head
  }()

  private static let headers: [(name: String, value: String)] =
    HTTPResponse.headersAlways + [
      ("Content-Type", "text/event-stream"),
      // Without this field, some proxies would hold events back until they have a full buffer.
      ("X-Accel-Buffering", "no"),
    ]

  private let feed: OpenFeed
  /// The connection, once there is one. The two refer to each other until the connection has finished and
  /// releases this object.
  private var stream: HTTPStream?

  private init(_ feed: OpenFeed) { self.feed = feed }

  static func open(
    _ opening: StreamOpening, on exchange: HTTPExchange, _ services: LoopServices
  ) throws(Refusal) {
    let feed = try OpenFeed(opening, framing: ServerSentEvents.framing, services)
    let source = NotificationStream(feed)
    feed.consumer.outlet = source
    // A new stream is pulled without being woken, so events that were ready before are not forgotten.
    source.stream = exchange.stream(status: 200, headers: headers, source: source)
  }

  func consumerIsReady() { stream?.wake() }

  func consumerBeats() {}

  func pull(into buffer: UnsafeMutableRawBufferPointer) -> HTTPPull {
    // SAFETY: the buffer belongs to the caller for the length of this call, and is not kept after it.
    var room = unsafe StreamBuffer(buffer)
    return switch feed.consumer.pull(into: &room) {
    case .bytes(let count, let more): .bytes(count, more: more)
    case .wait: .wait
    case .end: .end
    }
  }

  func finished(_ end: HTTPStreamEnd) { feed.close() }
}
