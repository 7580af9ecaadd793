import BelfryLoop
import CCurl
import Glibc

/// One request on its way: it waits, and then libcurl carries it. Used only on its loop's thread.
///
/// SAFETY of `@unchecked Sendable`: the handler of a cancellation only carries it to the loop.
@safe final class OutboundTransfer: @unchecked Sendable {
  typealias Answer = Result<OutboundResponse, OutboundError>

  let request: OutboundRequest
  private let policy: AddressPolicy
  private let headMaxBytes: Int
  private(set) var continuation: CheckedContinuation<Answer, Never>?
  var timer: LoopTimer?
  /// True if it counts among those under way.
  var isUnderWay = false
  var isOver: Bool { continuation == nil }

  // SAFETY: both are released in `deinit`. Before that, the client has removed the handle from its multi
  // handle, so there are no more callbacks.
  private(set) var easy: UnsafeMutableRawPointer?
  private var lists: [UnsafeMutablePointer<curl_slist>?] = unsafe []

  private var headBytes = 0
  private var isHeadComplete = false
  private var retryAfter: String?
  private var body: [UInt8] = []
  /// The reason for which a callback told libcurl to stop, or made no socket.
  private var refusal: OutboundError?

  init(
    _ request: OutboundRequest, policy: AddressPolicy, headMaxBytes: Int,
    _ continuation: CheckedContinuation<Answer, Never>
  ) {
    self.request = request
    self.policy = policy
    self.headMaxBytes = headMaxBytes
    self.continuation = continuation
  }

  deinit {
    unsafe curl_easy_cleanup(easy)
    unsafe lists.forEach { unsafe curl_slist_free_all($0) }
  }

  func finish(_ answer: Answer) {
    timer?.cancel()
    timer = nil
    continuation?.resume(returning: answer)
    continuation = nil
  }

  // MARK: As libcurl carries it

  /// Prepares the transfer for libcurl. Some defaults are kept on purpose: redirects are not followed,
  /// certificates are checked, no cookies are kept, nothing is decompressed.
  /// - Parameter addresses: the addresses of the host; empty if the URL has the address itself.
  /// - Returns: false if there is no memory.
  func prepare(addresses: [String]) -> Bool {
    guard let easy = unsafe curl_easy_init() else { return false }
    unsafe self.easy = unsafe easy
    // SAFETY: the client holds this object for as long as libcurl may call back.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    var results = unsafe [
      easy_set_text(easy, CURLOPT_URL, request.url.text),
      easy_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https"),
      // With a proxy from the environment, the checked address would be the proxy's.
      easy_set_text(easy, CURLOPT_PROXY, ""),
      easy_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1),
      // No signals for time limits: this is not the process's only thread.
      easy_set_long(easy, CURLOPT_NOSIGNAL, 1),
      easy_set_socket_maker(easy, makeSocket, context),
    ]
    var lines = request.headers.map { "\($0.name): \($0.value)" } + ["Expect:"]
    if request.method == .post {
      // Never empty, since libcurl takes no address for a body that it has yet to ask for.
      unsafe results.append(easy_set_body(easy, request.body + [0], Int64(request.body.count)))
    }
    if request.body.isEmpty { lines.append("Content-Type:") }
    guard let headers = unsafe list(of: lines) else { return false }
    unsafe results.append(easy_set_headers(easy, headers))
    if !addresses.isEmpty {
      let known = addresses.map { $0.utf8.contains(UInt8(ascii: ":")) ? "[\($0)]" : $0 }
      let line = "+\(request.url.host):\(request.url.port):\(known.joined(separator: ","))"
      guard let list = unsafe list(of: [line]) else { return false }
      unsafe results.append(easy_set_addresses(easy, list))
    }
    unsafe easy_set_receivers(easy, receiveHeader, receiveBody, context)
    return results.allSatisfy { $0 == CURLE_OK }
  }

  private func list(of lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines {
      guard let longer = unsafe curl_slist_append(list, line) else {
        unsafe curl_slist_free_all(list)
        return nil
      }
      unsafe list = unsafe longer
    }
    unsafe lists.append(list)
    return unsafe list
  }

  func answer(_ result: CURLcode) -> Answer {
    if result == CURLE_OK, let easy = unsafe easy {
      return .success(
        OutboundResponse(status: unsafe easy_status(easy), retryAfter: retryAfter, body: body))
    }
    return .failure(
      unsafe refusal ?? OutboundError(.unreachable, String(cString: curl_easy_strerror(result))))
  }

  // MARK: Called by libcurl

  /// Nil if the address must not be connected to. SAFETY: libcurl's address is good during the call.
  @unsafe fileprivate func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>) -> Int32? {
    let family = unsafe address.pointee.family
    let kind = unsafe address.pointee.socktype
    let number = unsafe address.pointee.protocol
    let length = unsafe Int(address.pointee.addrlen)
    // Longer than the structure says: an address of IPv6 takes more than a `sockaddr` has.
    let found = MemoryLayout<curl_sockaddr>.offset(of: \.addr).flatMap { offset in
      let start = unsafe UnsafeRawPointer(address) + offset
      return unsafe IPAddress(start.assumingMemoryBound(to: sockaddr.self), length: length)
    }
    let cause =
      found.map { policy.refusal(of: $0, isEncrypted: request.url.isEncrypted) }
      ?? "its address is neither IPv4 nor IPv6"
    if let cause {
      refusal = OutboundError(.refusedAddress, "\(request.url.host): \(cause)")
      return nil
    }
    // Another address of the host may have been refused before.
    refusal = nil
    let socket = Glibc.socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), number)
    return socket >= 0 ? socket : nil
  }

  /// - Parameter line: with its line break.
  /// - Returns: false when libcurl shall stop.
  fileprivate func receivedHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    guard !isHeadComplete else { return true }
    headBytes += line.count
    guard headBytes <= headMaxBytes else {
      refusal = OutboundError(.tooLarge, "the answer's head is longer than \(headMaxBytes) bytes")
      return false
    }
    let text = unsafe String(decoding: line, as: UTF8.self).trimmingWhitespace
    if text.isEmpty {
      // An interim answer is followed by the real one.
      if let easy = unsafe easy, unsafe easy_status(easy) >= 200 { isHeadComplete = true }
    } else if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
      text[..<colon].lowercased() == "retry-after"
    {
      retryAfter = String(text[text.index(after: colon)...]).trimmingWhitespace
    }
    return true
  }

  /// - Returns: how many bytes were taken.
  fileprivate func receivedBody(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard body.count + bytes.count <= request.answerMaxBytes else {
      refusal = OutboundError(.tooLarge, "the answer is longer than \(request.answerMaxBytes) bytes")
      return 0
    }
    unsafe body.append(contentsOf: bytes)
    return bytes.count
  }
}

extension String {
  fileprivate var trimmingWhitespace: String {
    let isSpace = { (byte: UInt8) in byte <= 0x20 }
    let rest = utf8.drop(while: isSpace)
    let end = rest.lastIndex { !isSpace($0) }.map { rest.index(after: $0) } ?? rest.startIndex
    return String(Substring(rest[..<end]))
  }
}

// SAFETY of all: the context is the transfer, which the client holds, and libcurl's bytes are read during the call only.

private func makeSocket(
  _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype,
  _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
  guard let context = unsafe context, let address = unsafe address else {
    return socket_refused
  }
  let transfer = unsafe Unmanaged<OutboundTransfer>.fromOpaque(context).takeUnretainedValue()
  return unsafe transfer.openSocket(to: address) ?? socket_refused
}

private func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  let transfer = unsafe Unmanaged<OutboundTransfer>.fromOpaque(context).takeUnretainedValue()
  let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
  return unsafe transfer.receivedHeader(line) ? line.count : 0
}

private func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  let transfer = unsafe Unmanaged<OutboundTransfer>.fromOpaque(context).takeUnretainedValue()
  return unsafe transfer.receivedBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
}
