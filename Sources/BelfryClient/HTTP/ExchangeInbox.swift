import Foundation
import Synchronization

/// The status and the headers of an answer.
struct HTTPHead: Sendable, Hashable {
  var status: Int
  /// The names are in lower case.
  var headers: [String: String]

  var mediaType: String {
    let type = headers["content-type"]?.prefix { $0 != ";" } ?? ""
    return type.trimmingCharacters(in: .whitespaces).lowercased()
  }
}

/// Why an exchange ended before its answer was complete.
enum ExchangeFailure: Error, Sendable, Hashable {
  case cancelled
  /// The connection could not be made in time or at all, and no byte of the request was sent. The text says why.
  case unsent(String)
  /// The connection broke or was silent for too long after a part of the request was sent. The text says which.
  case lost(String)
}

/// One part of an exchange. They arrive in this order: a head, any number of body parts, an end.
enum ExchangePart: Sendable, Hashable {
  case head(HTTPHead)
  case body(Data)
  /// Nil means that the answer is complete.
  case end(ExchangeFailure?)
}

/// Carries the parts of one exchange from the transport's thread to the one task that takes them. It holds a limited number
/// of bytes. When it is full it refuses a part, and the thread holds the rest back.
final class ExchangeInbox: Sendable {
  /// The result of putting a part.
  enum Outcome: Sendable { case taken, refusedFull, refusedEnded }

  fileprivate struct State {
    var head: HTTPHead?
    var body = Data()
    var end: ExchangePart?
    /// True if a part was refused and the thread waits for room.
    var owesRoom = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let limitBytes: Int
  private let state = Mutex(State())

  /// - Parameter limitBytes: the inbox refuses parts while it holds this many bytes or more. One part may exceed it.
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

  /// Waits for the next part and takes it. After the end it returns the end again. Only one task at a time may call it.
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

  /// True once after each refusal, as soon as there is room again.
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
    // The end stays, for later calls.
    return end
  }
}
