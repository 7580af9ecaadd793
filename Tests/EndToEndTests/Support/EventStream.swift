import Foundation

/// One open stream: it reads Server-Sent Events on its own thread, and lets the test wait for events.
final class EventStream: @unchecked Sendable {
  struct Event: Sendable {
    var name = "message"
    var data = ""
    var id: String?
    // Read once: tests look through all events again and again.
    private(set) var body: String?
    private(set) var type: Int?
    private(set) var messageServerId: String?

    var object: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(data.utf8))) as? [String: Any] ?? [:]
    }

    fileprivate mutating func read() {
      let object = object
      body = object["body"] as? String
      type = object["type"] as? Int
      messageServerId = object["messageServerId"] as? String
    }
  }

  private let wire: Wire
  private let condition = NSCondition()
  private var events: [Event] = []
  private var comments = 0
  private var hasEnded = false
  private(set) var status = 0

  /// - Parameter reads: false leaves the socket unread until ``startReading()``.
  init(port: UInt16, path: String = "/v1/notifications/stream", headers: [String: String], reads: Bool = true)
    throws
  {
    wire = try Wire(port: port, timeoutSeconds: 60, receiveBytes: reads ? nil : 16_384)
    try wire.writeRequest("GET", path, headers: headers)
    let head = try wire.readHead()
    status = head.status
    // A refusal is no stream. The connection stays open, so a test would wait for events until its time is up.
    if status != 200 { hasEnded = true } else if reads { startReading() }
  }

  func startReading() {
    Thread.detachNewThread { [self] in
      var parser = Parser()
      while let chunk = try? wire.readChunk(), !chunk.isEmpty {
        let (new, newComments) = parser.take(chunk)
        condition.withLock {
          events += new
          comments += newComments
          condition.broadcast()
        }
      }
      condition.withLock {
        hasEnded = true
        condition.broadcast()
      }
    }
  }

  deinit { wire.cut() }

  /// Closes the connection from this end, and returns the events that have come.
  @discardableResult
  func cut() -> [Event] {
    wire.cut()
    return condition.withLock {
      while !hasEnded { condition.wait() }
      return events
    }
  }

  var all: [Event] { condition.withLock { events } }
  var notifications: [Event] { all.filter { $0.name == "notification" } }
  var bodies: [String] { notifications.compactMap(\.body) }
  var types: [Int] { notifications.compactMap(\.type) }
  var lastID: String? { all.last { $0.id != nil }?.id }
  var commentCount: Int { condition.withLock { comments } }
  var isOver: Bool { condition.withLock { hasEnded } }

  /// Waits until the events satisfy the test, or the time is up.
  @discardableResult
  func wait(seconds: Double = 60, until isSatisfied: ([Event]) -> Bool) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    condition.lock()
    defer { condition.unlock() }
    while !isSatisfied(events) {
      guard !hasEnded, condition.wait(until: deadline) else { return isSatisfied(events) }
    }
    return true
  }

  func wait(forBody body: String, seconds: Double = 60) -> Bool {
    wait(seconds: seconds) { $0.contains { $0.body == body } }
  }

  func wait(forEvent name: String, seconds: Double = 60) -> Bool {
    wait(seconds: seconds) { $0.contains { $0.name == name } }
  }

  func waitUntilOver(seconds: Double = 60) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    return condition.withLock {
      while !hasEnded { if !condition.wait(until: deadline) { return hasEnded } }
      return true
    }
  }

  /// Written for the tests, not taken from the client library: a fault in both would hide itself.
  private struct Parser {
    private var buffered: [UInt8] = []
    private var current = Event()
    private var hasData = false

    mutating func take(_ chunk: [UInt8]) -> ([Event], Int) {
      buffered += chunk
      var events: [Event] = []
      var comments = 0
      var start = 0
      while let end = buffered[start...].firstIndex(of: 10) {
        let line = String(decoding: buffered[start..<end], as: UTF8.self)
        start = end + 1
        if line.isEmpty {
          if hasData {
            current.read()
            events.append(current)
          }
          current = Event()
          hasData = false
        } else if line.hasPrefix(":") {
          comments += 1
        } else if line.hasPrefix("event: ") {
          current.name = String(line.dropFirst(7))
        } else if line.hasPrefix("data: ") {
          current.data = String(line.dropFirst(6))
          hasData = true
        } else if line.hasPrefix("id: ") {
          current.id = String(line.dropFirst(4))
        }
      }
      buffered.removeSubrange(..<start)
      return (events, comments)
    }
  }
}
