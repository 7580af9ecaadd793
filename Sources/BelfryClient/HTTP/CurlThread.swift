import BelfrySystem
import CCurl
import Glibc
import Synchronization

/// One thread on which libcurl carries all transfers of a transport. It sleeps while nothing arrives. Other threads only
/// leave commands for it and wake it.
@safe final class CurlThread: Sendable {
  struct Beginning: Sendable {
    var number: UInt64
    var request: HTTPRequest
    var url: String
    var silence: Duration
    var inbox: ExchangeInbox
  }

  /// A command for a transfer that has ended is ignored.
  enum Command: Sendable {
    case begin(Beginning)
    case resume(UInt64)
    case upload(UInt64, [UInt8])
    case cancel(UInt64)
  }

  private struct Mailbox {
    var commands: [Command] = []
    var isRunning = false
    var isEnding = false
  }

  /// Prepares libcurl, once for the process and before any other call of libcurl.
  private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_SSL)) == CURLE_OK

  // SAFETY: used by the thread alone, except for curl_multi_wakeup, which any thread may call at any time.
  // Released when neither the thread nor a transport holds this object, so nobody can use it any more.
  private nonisolated(unsafe) let multi: UnsafeMutableRawPointer?
  // SAFETY: used by the thread alone, and released when no transfer is left.
  private nonisolated(unsafe) let share: UnsafeMutableRawPointer?
  private let authorityFile: String?
  private let mailbox = Mutex(Mailbox())

  init(connectionsLimit: Int, authorityFile: String?) {
    self.authorityFile = authorityFile
    unsafe multi = Self.isLibraryReady ? curl_multi_init() : nil
    unsafe share = Self.isLibraryReady ? share_sessions() : nil
    // Requests beyond this number wait in line. The same number of connections is kept for later requests.
    unsafe multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connectionsLimit)
    unsafe multi_set_long(multi, CURLMOPT_MAXCONNECTS, connectionsLimit)
  }

  deinit {
    unsafe curl_multi_cleanup(multi)
    unsafe curl_share_cleanup(share)
  }

  func send(_ command: Command) {
    let isRunning = mailbox.withLock { mailbox in
      // The first command starts the thread: a client that never streams needs none for streams.
      if !mailbox.isRunning { mailbox.isRunning = start() }
      if mailbox.isRunning { mailbox.commands.append(command) }
      return mailbox.isRunning
    }
    if isRunning {
      unsafe curl_multi_wakeup(multi)
    } else if case .begin(let beginning) = command {
      beginning.inbox.put(.end(.unsent("this process has no memory or no thread left for a connection")))
    }
  }

  /// Ends the thread, and cancels what it still carries.
  func end() {
    mailbox.withLock { $0.isEnding = true }
    unsafe curl_multi_wakeup(multi)
  }

  private func start() -> Bool {
    guard unsafe multi != nil else { return false }
    do throws(SystemError) {
      try SystemThread("belfry-client") { self.run() }.detach()
      return true
    } catch {
      return false
    }
  }

  // MARK: On the thread

  private func run() {
    var transfers: [UInt64: CurlTransfer] = [:]
    while let commands = takeCommands() {
      for command in commands { follow(command, &transfers) }
      var runningCount: Int32 = 0
      var code = unsafe curl_multi_perform(multi, &runningCount)
      for transfer in transfers.values { transfer.endRefusedUpload() }
      finishCompleted(&transfers)
      finishHungUp(&transfers)
      let sleep = finishSilent(&transfers)
      if code == CURLM_OK { code = wait(milliseconds: sleep, transfers) }
      if code != CURLM_OK {
        // There is no memory or no file descriptor left. The callers try again after a pause; this loop must not try.
        let words = unsafe String(cString: curl_multi_strerror(code))
        for transfer in transfers.values { finish(transfer, transfer.makeFailure(saying: words), &transfers) }
      }
    }
    for transfer in transfers.values { finish(transfer, .cancelled, &transfers) }
  }

  /// Nil when the thread is to end.
  private func takeCommands() -> [Command]? {
    mailbox.withLock { mailbox in
      guard !mailbox.isEnding else { return nil }
      defer { mailbox.commands = [] }
      return mailbox.commands
    }
  }

  private func follow(_ command: Command, _ transfers: inout [UInt64: CurlTransfer]) {
    switch command {
    case .begin(let beginning):
      guard
        let transfer = unsafe CurlTransfer(beginning, sharing: share, authorityFile: authorityFile),
        unsafe curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
      else {
        beginning.inbox.put(.end(.unsent("this process has no memory left for a connection")))
        return
      }
      transfers[beginning.number] = transfer
    case .resume(let number):
      transfers[number]?.resume()
    case .upload(let number, let bytes):
      transfers[number]?.upload(bytes)
    case .cancel(let number):
      if let transfer = transfers[number] { finish(transfer, .cancelled, &transfers) }
    }
  }

  private func finishCompleted(_ transfers: inout [UInt64: CurlTransfer]) {
    var result = CURLE_OK
    while let context = unsafe multi_next_finished(multi, &result) {
      // SAFETY: the context of each transfer is the transfer, which `transfers` holds until it is finished.
      let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
      finish(transfer, transfer.makeFailure(for: result), &transfers)
    }
  }

  private func wait(milliseconds: Int32, _ transfers: [UInt64: CurlTransfer]) -> CURLMcode {
    var watched = transfers.values.compactMap(\.socketToWatch).map { descriptor in
      curl_waitfd(fd: descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
    }
    return unsafe curl_multi_poll(multi, &watched, UInt32(watched.count), milliseconds, nil)
  }

  private func finishHungUp(_ transfers: inout [UInt64: CurlTransfer]) {
    for transfer in transfers.values where transfer.hasHungUp() {
      // A refusal of the upgrade has arrived whole, and libcurl may still wait for more to send.
      finish(transfer, transfer.isUpgraded ? .lost("the connection was closed") : nil, &transfers)
    }
  }

  /// Returns how many milliseconds libcurl may sleep at most if nothing arrives.
  private func finishSilent(_ transfers: inout [UInt64: CurlTransfer]) -> Int32 {
    let now = ContinuousClock.now
    var sleep = Duration.seconds(3_600)
    for transfer in transfers.values {
      guard let patience = transfer.patience(now: now) else { continue }
      if patience > .zero {
        sleep = min(sleep, patience)
      } else {
        finish(transfer, transfer.makeFailure(saying: "nothing arrived for \(transfer.silence)"), &transfers)
      }
    }
    return Int32((sleep / .milliseconds(1)).rounded(.up))
  }

  private func finish(
    _ transfer: CurlTransfer, _ failure: ExchangeFailure?, _ transfers: inout [UInt64: CurlTransfer]
  ) {
    // This closes the connection, unless the answer is complete.
    unsafe curl_multi_remove_handle(multi, transfer.easy)
    transfers[transfer.number] = nil
    transfer.inbox.put(.end(failure))
  }
}
