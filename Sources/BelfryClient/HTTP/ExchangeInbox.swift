import Foundation
import Synchronization

/// The head of an answer.
struct HTTPHead: Sendable, Hashable {
  var status: Int
  /// By lowercased name.
  var headers: [String: String]

  var mediaType: String {
    let type = headers["content-type"]?.prefix { $0 != ";" } ?? ""
    return type.trimmingCharacters(in: .whitespaces).lowercased()
  }
}

/// Why an exchange ended before its answer was complete.
enum ExchangeFailure: Error, Sendable, Hashable {
  case cancelled
  /// More arrived than was taken; see ``ClientLimits/streamAheadBytes``.
  case tooFarAhead
  /// The connection could not be made, broke, or was silent too long; in words.
  case lost(String)
}

/// What arrives in one exchange, in order: a head, any number of body parts, an end.
enum ExchangePart: Sendable, Hashable {
  case head(HTTPHead)
  case body(Data)
  /// Nil: the answer is complete.
  case end(ExchangeFailure?)
}

/// Carries the parts of one exchange from URLSession's queue to the one task that takes them. Holds at
/// most `limitBytes` of body.
final class ExchangeInbox: Sendable {
  fileprivate struct State {
    var parts: [ExchangePart] = []
    var bodyBytes = 0
    var ended = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let limitBytes: Int
  private let state = Mutex(State())

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// False when there is no use in more: the exchange has ended, or with this part became too long.
  @discardableResult
  func put(_ part: ExchangePart) -> Bool {
    let (waiter, goesOn) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Bool) in
      guard !state.ended else { return (nil, false) }
      state.append(part, limitBytes: limitBytes)
      defer { state.waiter = nil }
      return (state.waiter, !state.ended)
    }
    waiter?.resume()
    return goesOn
  }

  /// The next part, waiting for it. After the end: the end again. By one task at a time.
  func take() async -> ExchangePart {
    await withTaskCancellationHandler {
      while true {
        if let part = state.withLock({ $0.removeFirst() }) { return part }
        await withCheckedContinuation { continuation in
          let resumesNow = state.withLock { state in
            guard state.parts.isEmpty else { return true }
            state.waiter = continuation
            return false
          }
          if resumesNow { continuation.resume() }
        }
      }
    } onCancel: {
      put(.end(.cancelled))
    }
  }
}

extension ExchangeInbox.State {
  fileprivate mutating func append(_ part: ExchangePart, limitBytes: Int) {
    switch part {
    case .head:
      parts.append(part)
    case .body(let data):
      guard bodyBytes + data.count <= limitBytes else {
        parts.append(.end(.tooFarAhead))
        ended = true
        return
      }
      bodyBytes += data.count
      parts.append(part)
    case .end:
      parts.append(part)
      ended = true
    }
  }

  fileprivate mutating func removeFirst() -> ExchangePart? {
    guard let first = parts.first else { return nil }
    // The end stays, for whoever asks again.
    if case .end = first { return first }
    parts.removeFirst()
    if case .body(let data) = first { bodyBytes -= data.count }
    return first
  }
}
