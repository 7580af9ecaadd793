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

/// Carries the parts of one exchange from the transport's thread to the one task that takes them. What waits
/// in it is bounded: the thread is told to hold the rest back.
final class ExchangeInbox: Sendable {
  /// What became of a part that was put.
  enum Outcome: Sendable { case taken, refusedFull, refusedEnded }

  fileprivate struct State {
    var head: HTTPHead?
    var body = Data()
    var end: ExchangePart?
    /// A part was refused, and whoever put it waits for room.
    var owesRoom = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let limitBytes: Int
  private let state = Mutex(State())

  /// - Parameter limitBytes: with as many or more in it, it takes no more. One part may exceed it.
  init(limitBytes: Int) { self.limitBytes = limitBytes }

  @discardableResult
  func put(_ part: ExchangePart) -> Outcome {
    let (waiter, outcome) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Outcome) in
      let outcome = state.append(part, limitBytes: limitBytes)
      guard outcome == .taken else { return (nil, outcome) }
      defer { state.waiter = nil }
      return (state.waiter, outcome)
    }
    waiter?.resume()
    return outcome
  }

  /// The next part, waiting for it. After the end: the end again. By one task at a time.
  func take() async -> ExchangePart {
    await withTaskCancellationHandler {
      while true {
        if let part = state.withLock({ $0.removeFirst() }) { return part }
        await withCheckedContinuation { continuation in
          let resumesNow = state.withLock { state in
            guard state.isEmpty else { return true }
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

  /// True once for each refusal, when there is room again.
  func hasRoomAgain() -> Bool {
    state.withLock { state in
      guard state.owesRoom, state.body.count < limitBytes else { return false }
      state.owesRoom = false
      return true
    }
  }
}

extension ExchangeInbox.State {
  fileprivate var isEmpty: Bool { head == nil && body.isEmpty && end == nil }

  fileprivate mutating func append(_ part: ExchangePart, limitBytes: Int) -> ExchangeInbox.Outcome {
    guard end == nil else { return .refusedEnded }
    switch part {
    case .head(let arrived):
      head = arrived
    case .body(let data):
      guard body.count < limitBytes else {
        owesRoom = true
        return .refusedFull
      }
      body += data
    case .end:
      end = part
    }
    return .taken
  }

  fileprivate mutating func removeFirst() -> ExchangePart? {
    if let arrived = head {
      head = nil
      return .head(arrived)
    }
    guard body.isEmpty else {
      defer { body = Data() }
      return .body(body)
    }
    // It stays, for whoever asks again.
    return end
  }
}
