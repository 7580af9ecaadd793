package import Foundation
import Glibc
import Synchronization

/// A request that a scripted server received.
package struct ScriptedRequest: Sendable, Hashable {
  package var method: String
  /// Path and query, as they came.
  package var target: String
  /// The headers by lowercased name.
  package var headers: [String: String]
  package var body: String
}

/// One thing that a scripted server does with a connection. After the last one it closes it.
package enum Step: Sendable {
  /// Writes bytes as they are.
  case write(String)
  /// Writes one chunk of a chunked body.
  case chunk(String)
  case pause(milliseconds: UInt32)
  /// Waits until the other side hangs up.
  case hold
  /// Goes on with another request on the same connection. The last step.
  case next
  /// Closes at once with a reset, so that the other side sees an error rather than an end.
  case reset
}

extension Step {
  /// A whole answer.
  package static func answer(
    _ status: Int, _ body: String = "", type: String = "application/json", headers: [String] = []
  ) -> Step {
    let lines =
      ["HTTP/1.1 \(status) Scripted", "Content-Type: \(type)", "Content-Length: \(body.utf8.count)"]
      + headers + ["Connection: close", "", body]
    return .write(lines.joined(separator: "\r\n"))
  }

  /// A whole answer on a connection that stays open.
  package static func kept(_ status: Int, _ body: String = "") -> Step {
    .write(
      "HTTP/1.1 \(status) Scripted\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        + body)
  }

  package static func problem(_ status: Int, code: String, detail: String, headers: [String] = []) -> Step {
    answer(
      status, #"{"status":\#(status),"title":"Refused","detail":"\#(detail)","code":"\#(code)"}"#,
      type: "application/problem+json", headers: headers)
  }

  /// The head of a stream of events; chunks follow.
  package static let stream = Step.write(
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
}

/// A tiny HTTP server that does what a script says: for behaviour that a real broker shows rarely, such as
/// hanging up in the middle of an event. One connection, one request, unless the script says `next`.
package final class ScriptedServer: Sendable {
  package typealias Script = @Sendable (_ request: ScriptedRequest, _ number: Int) -> [Step]

  private struct State {
    var requests: [ScriptedRequest] = []
    var open = 0
    var stepsDone = 0
    var connections = 0
  }

  package let port: UInt16
  private let listener: SocketDescriptor
  private let state: Shared<State>

  /// - Parameter script: what to do with the request that came as the `number`th, counted from 1.
  package init(_ script: @escaping Script) throws {
    let listener = try SocketDescriptor.listening()
    let state = Shared(State())
    self.listener = listener
    self.state = state
    port = try listener.port()
    Thread.detachNewThread {
      while let connection = listener.accept() {
        Thread.detachNewThread { Self.serve(connection, script, state) }
      }
    }
  }

  deinit { listener.shutDown() }

  package var url: URL { URL(string: "http://127.0.0.1:\(port)") ?? URL(fileURLWithPath: "/") }
  package var requests: [ScriptedRequest] { state.withLock { $0.requests } }
  /// Steps of all connections that are over: a write that the other side does not read is not.
  package var stepsDone: Int { state.withLock { $0.stepsDone } }
  /// Connections there have been.
  package var connections: Int { state.withLock { $0.connections } }
  /// Connections that are open now.
  package var openConnections: Int { state.withLock { $0.open } }

  private static func serve(_ connection: SocketDescriptor, _ script: Script, _ state: Shared<State>) {
    state.withLock {
      $0.open += 1
      $0.connections += 1
    }
    defer {
      connection.close()
      state.withLock { $0.open -= 1 }
    }
    while let request = connection.readRequest() {
      let number = state.withLock { state in
        state.requests.append(request)
        return state.requests.count
      }
      var goesOn = false
      for step in script(request, number) {
        switch step {
        case .write(let text): guard connection.write(text) else { return }
        case .chunk(let text):
          let size = String(text.utf8.count, radix: 16)
          guard connection.write("\(size)\r\n\(text)\r\n") else { return }
        case .pause(let milliseconds): usleep(milliseconds * 1_000)
        case .hold: connection.waitForHangUp()
        case .reset: return connection.reset()
        case .next: goesOn = true
        }
        state.withLock { $0.stepsDone += 1 }
      }
      guard goesOn else { return }
    }
  }
}

/// A value behind a lock, which threads can share.
package final class Shared<Value: Sendable>: Sendable {
  private let value: Mutex<Value>
  package init(_ value: Value) { self.value = Mutex(value) }
  package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
    value.withLock { value in body(&value) }
  }
}

/// Threads wait at it until a test opens it. They sleep meanwhile: threads that ask a `Shared` flag again and again
/// spin on its lock, and 64 of them took a processor for themselves.
package final class Latch: Sendable {
  private let condition = NSCondition()
  private let isOpen = Shared(false)

  package init() {}

  package func open() {
    condition.withLock {
      isOpen.withLock { $0 = true }
      condition.broadcast()
    }
  }

  /// Returns once it is open, or after half a minute, since a test that fails must end too.
  package func wait() {
    let end = Date(timeIntervalSinceNow: 30)
    condition.withLock {
      while !isOpen.withLock({ $0 }), condition.wait(until: end) {}
    }
  }
}
