package import BelfryLoop
import CCurl

/// Sends requests to other servers from a loop, over connections that are kept. Each loop has one, on its
/// thread.
///
/// libcurl tells which sockets to watch and when to wake it, and the loop does that. Nothing blocks.
@safe package final class OutboundClient {
  fileprivate let loop: EventLoop
  private let policy: AddressPolicy
  private let limits: OutboundLimits
  private let addresses: HostAddresses
  private let headers: [(name: String, value: String)]

  /// Called once for the process, before any other function of libcurl.
  private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_SSL)) == CURLE_OK

  // SAFETY: used on the loop's thread alone, and released by `close` or with this object, when it holds no transfer.
  private var multi: UnsafeMutableRawPointer?
  private var watches: [Int32: Watch] = [:]
  private var timer: LoopTimer?
  /// The transfers that libcurl has.
  private var carried: [ObjectIdentifier: OutboundTransfer] = [:]
  private var turns: OutboundTurns
  private var isClosed = false

  package private(set) var statistics = OutboundStatistics()

  package init(
    loop: EventLoop, policy: AddressPolicy, userAgent: String, limits: OutboundLimits = OutboundLimits()
  ) {
    self.loop = loop
    self.policy = policy
    self.limits = limits
    headers = [("User-Agent", userAgent)]
    turns = OutboundTurns(limits)
    addresses = HostAddresses(loop: loop, limits: limits)
    unsafe multi = Self.isLibraryReady ? curl_multi_init() : nil
    unsafe multi_set_long(multi, CURLMOPT_MAXCONNECTS, limits.connectionsKept)
    // SAFETY: `close` and `deinit` release the handle before this object is.
    unsafe multi_set_callbacks(multi, watchSocket, callTimer, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    timer?.cancel()
    for watch in watches.values { watch.cancel() }
    unsafe multi_set_callbacks(multi, nil, nil, nil)
    unsafe curl_multi_cleanup(multi)
  }

  /// Ends the requests under way, and sends no more.
  package func close() {
    isClosed = true
    let error = OutboundError(.cancelled, "the broker is shutting down")
    for transfer in turns.removeWaiting() { end(transfer, .failure(error)) }
    for transfer in carried.values { end(transfer, .failure(error)) }
  }

  /// Sends a request when its turn has come, and waits for the answer.
  package func send(
    _ request: OutboundRequest, isolation: isolated (any Actor)? = #isolation
  ) async throws(OutboundError) -> OutboundResponse {
    loop.checkIsolated()
    let place = TransferPlace(of: self)
    let answer = await withTaskCancellationHandler {
      _ = isolation
      return await withCheckedContinuation { continuation in
        var request = request
        request.headers += headers
        let transfer = OutboundTransfer(
          request, policy: policy, headMaxBytes: limits.headMaxBytes, continuation)
        place.transfer = transfer
        begin(transfer, isCancelled: place.isCancelled)
      }
    } onCancel: {
      // It may come from any thread.
      place.loop.perform { place.client?.cancel(place) }
    }
    return try answer.get()
  }

  private func cancel(_ place: TransferPlace) {
    place.isCancelled = true
    guard let transfer = place.transfer else { return }
    end(transfer, .failure(OutboundError(.cancelled, "it was cancelled")))
  }

  // MARK: Turns

  private func begin(_ transfer: OutboundTransfer, isCancelled: Bool) {
    guard !isClosed, !isCancelled, unsafe multi != nil else {
      return transfer.finish(.failure(OutboundError(.cancelled, "the broker is shutting down")))
    }
    guard turns.append(transfer) else {
      statistics.refused += 1
      return transfer.finish(.failure(OutboundError(.busy, "too many requests are waiting")))
    }
    setDeadline(of: transfer)
    beginWaiting()
  }

  private func setDeadline(of transfer: OutboundTransfer) {
    transfer.timer?.cancel()
    transfer.timer = loop.schedule(after: transfer.request.deadline) { [weak self, weak transfer] in
      guard let self, let transfer else { return }
      self.statistics.timedOut += 1
      self.end(
        transfer,
        .failure(
          self.isBegun(transfer)
            ? OutboundError(.timedOut, "there was no answer in time")
            : OutboundError(.notBegun, "it waited too long for its turn")))
    }
  }

  /// False while it waits for others, when nothing is known of its host yet.
  private func isBegun(_ transfer: OutboundTransfer) -> Bool {
    transfer.isUnderWay && !addresses.isWaiting(for: transfer.request.url.host)
  }

  private func beginWaiting() {
    while let transfer = turns.next() {
      setDeadline(of: transfer)
      findAddresses(of: transfer)
    }
  }

  private func findAddresses(of transfer: OutboundTransfer) {
    let host = transfer.request.url.host
    if HostResolver.knownAddress(of: host) != nil { return carry(transfer, addresses: []) }
    addresses.find(host, for: transfer.request.owner) { [weak self] answer in
      guard let self, !transfer.isOver else { return }
      switch answer {
      case .addresses(let addresses) where !addresses.isEmpty: self.carry(transfer, addresses: addresses)
      case .addresses: self.fail(transfer, .unreachable, "the host has no address")
      case .failed(let failure): self.fail(transfer, .unreachable, failure.cause)
      case .busy: self.fail(transfer, .busy, "too many host names are being looked up")
      }
    }
  }

  private func carry(_ transfer: OutboundTransfer, addresses: [String]) {
    // The client may have closed while the host was looked up.
    if isClosed { return fail(transfer, .cancelled, "the broker is shutting down") }
    guard transfer.prepare(addresses: addresses) else {
      return fail(transfer, .unreachable, "no memory is available")
    }
    carried[ObjectIdentifier(transfer)] = transfer
    statistics.sent += 1
    // It begins at a timer that libcurl sets in this call.
    guard unsafe curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
      return fail(transfer, .unreachable, "no memory is available")
    }
  }

  private func fail(_ transfer: OutboundTransfer, _ code: OutboundError.Code, _ cause: String) {
    end(transfer, .failure(OutboundError(code, cause)))
  }

  /// Ends a transfer in any state.
  private func end(_ transfer: OutboundTransfer, _ answer: OutboundTransfer.Answer) {
    guard !transfer.isOver else { return }
    if carried.removeValue(forKey: ObjectIdentifier(transfer)) != nil {
      // Closes the connection, unless the answer is complete.
      unsafe curl_multi_remove_handle(multi, transfer.easy)
    }
    transfer.finish(answer)
    turns.end(transfer)
    if case .failure = answer { statistics.failed += 1 }
    if !isClosed { beginWaiting() }
  }

  // MARK: libcurl at work

  private func act(on socket: curl_socket_t, _ events: Int32 = 0) {
    var running: Int32 = 0
    // An error concerns one transfer, which is then among those that have finished.
    _ = unsafe curl_multi_socket_action(multi, socket, events, &running)
    var result = CURLE_OK
    while let context = unsafe multi_next_finished(multi, &result) {
      // SAFETY: the context of each transfer is the transfer, which `carried` holds until it has ended.
      let transfer = unsafe Unmanaged<OutboundTransfer>.fromOpaque(context).takeUnretainedValue()
      end(transfer, transfer.answer(result))
    }
  }

  fileprivate func watch(_ socket: curl_socket_t, for what: Int32) {
    guard what != CURL_POLL_REMOVE else {
      watches.removeValue(forKey: socket)?.cancel()
      return
    }
    var interest: Readiness = []
    if what & CURL_POLL_IN != 0 { interest.insert(.readable) }
    if what & CURL_POLL_OUT != 0 { interest.insert(.writable) }
    do {
      if let watch = watches[socket] { return try watch.update(interest) }
      watches[socket] = try loop.watch(socket, for: interest) { [weak self] readiness in
        var events: Int32 = 0
        if readiness.contains(.readable) { events |= CURL_CSELECT_IN }
        if readiness.contains(.writable) { events |= CURL_CSELECT_OUT }
        if readiness.contains(.error) || readiness.contains(.hangup) { events |= CURL_CSELECT_ERR }
        self?.act(on: socket, events)
      }
    } catch {
      // There is no memory in the kernel. The request ends at its deadline.
    }
  }

  fileprivate func setTimer(milliseconds: Int) {
    timer?.cancel()
    timer = nil
    guard milliseconds >= 0 else { return }
    timer = loop.schedule(after: .milliseconds(milliseconds)) { [weak self] in
      self?.timer = nil
      self?.act(on: socket_timeout)
    }
  }
}

/// The requests of one loop to others since the start.
package struct OutboundStatistics: Sendable, Hashable, Codable {
  package var sent = 0
  package var failed = 0
  package var timedOut = 0
  /// Not sent, since too many waited.
  package var refused = 0
}

/// Lets the handler of a cancellation find the transfer.
///
/// SAFETY of `@unchecked Sendable`: everything except `loop` is used only on the loop's thread.
private final class TransferPlace: @unchecked Sendable {
  let loop: EventLoop
  private(set) weak var client: OutboundClient?
  weak var transfer: OutboundTransfer?
  var isCancelled = false

  init(of client: OutboundClient) {
    loop = client.loop
    self.client = client
  }
}

// SAFETY of both: the context is the client, which releases the multi handle before it goes.

private func watchSocket(
  _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32,
  _ context: UnsafeMutableRawPointer?, _ own: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context = unsafe context else { return 0 }
  unsafe Unmanaged<OutboundClient>.fromOpaque(context).takeUnretainedValue().watch(socket, for: what)
  return 0
}

private func callTimer(
  _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context = unsafe context else { return 0 }
  unsafe Unmanaged<OutboundClient>.fromOpaque(context).takeUnretainedValue()
    .setTimer(milliseconds: milliseconds)
  return 0
}
