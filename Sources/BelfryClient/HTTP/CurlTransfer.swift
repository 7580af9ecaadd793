import CCurl
import Foundation

/// One exchange as libcurl carries it. Only its `CurlThread` uses it.
@safe final class CurlTransfer {
  let number: UInt64
  let inbox: ExchangeInbox
  // SAFETY: both are released in `deinit`, after the thread has taken the handle from its multi handle, and
  // so after the last callback.
  let easy: UnsafeMutableRawPointer
  private var requestHeaders: UnsafeMutablePointer<curl_slist>?

  /// The longest silence before the transfer is given up.
  let silence: Duration
  private var heardAt = ContinuousClock.now
  private var uploadedBytes: Int64 = 0
  /// True while libcurl keeps the last part and reads no more, until there is room in the inbox.
  private var isPaused = false

  private var headers: [String: String] = [:]
  private var headBytes = 0
  private var isHeadComplete = false
  private let isUpgrade: Bool
  /// True if the broker has answered that it speaks the other protocol from now on.
  private(set) var isUpgraded = false
  /// Bytes to send after the upgrade to the other protocol.
  private var upload: [UInt8] = []
  /// True while libcurl waits for more such bytes.
  private var isUploadPaused = false
  /// The sockets that libcurl made for an upgrade. One of them is connected.
  private var sockets: [ObservedSocket] = []
  /// The time of the last arrival when the end of the broker's bytes was first seen.
  private var endSeenAfter: ContinuousClock.Instant?
  /// Why a callback told libcurl to stop.
  private var refusal: ExchangeFailure?

  /// Nil if there is no memory.
  init?(
    _ beginning: CurlThread.Beginning, sharing share: UnsafeMutableRawPointer?, authorityFile: String?
  ) {
    guard let easy = unsafe curl_easy_init() else { return nil }
    unsafe self.easy = unsafe easy
    number = beginning.number
    inbox = beginning.inbox
    silence = beginning.silence
    isUpgrade = beginning.request.isUpgrade
    guard configure(beginning.request, url: beginning.url) else { return nil }
    // Without a share, each connection begins a new TLS session.
    if unsafe share != nil { unsafe easy_set_share(easy, share) }
    if let authorityFile, unsafe easy_set_text(easy, CURLOPT_CAINFO, authorityFile) != CURLE_OK { return nil }
  }

  deinit {
    unsafe curl_easy_cleanup(easy)
    unsafe curl_slist_free_all(requestHeaders)
  }

  /// Some of libcurl's defaults are kept on purpose: it follows no redirects, keeps no cookies, looks for no password,
  /// checks certificates, and takes a proxy from the environment.
  private func configure(_ request: HTTPRequest, url: String) -> Bool {
    var results = unsafe [
      easy_set_text(easy, CURLOPT_URL, url),
      easy_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue),
      // Each stream has its own connection: over HTTP/2 a stream that nobody reads could hold up the others.
      easy_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1),
      // No signals for time limits: the process has other threads.
      easy_set_long(easy, CURLOPT_NOSIGNAL, 1),
      // A proxy's answer to CONNECT is not the broker's answer.
      easy_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
      // If a kept connection breaks, libcurl sends the request again by itself. So a request that must not be repeated gets
      // a new connection.
      easy_set_long(easy, CURLOPT_FRESH_CONNECT, request.isRepeatable ? 0 : 1),
    ]
    // Without this, a POST would wait for a "100 Continue" first.
    var lines = request.headers.map { "\($0.key): \($0.value)" } + ["Expect:"]
    if request.body == nil { lines.append("Content-Type:") }
    if request.body != nil || request.method == .post {
      // One byte more than the body, so that there is an address even for an empty one: without an address libcurl would
      // ask a callback for the body.
      let bytes = [UInt8](request.body ?? Data()) + [0]
      unsafe results.append(easy_set_body(easy, bytes, Int64(bytes.count - 1)))
    }
    if request.isUpgrade {
      // A body without HTTP's framing, so libcurl sends the bytes of the other protocol as they are.
      lines.append("Transfer-Encoding:")
      unsafe results.append(easy_set_long(easy, CURLOPT_UPLOAD, 1))
      // The observer sees only sockets that are made for this transfer.
      unsafe results.append(easy_set_long(easy, CURLOPT_FRESH_CONNECT, 1))
      unsafe results.append(easy_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue))
    }
    for line in lines {
      guard let longer = unsafe curl_slist_append(requestHeaders, line) else { return false }
      unsafe requestHeaders = unsafe longer
    }
    unsafe results.append(easy_set_headers(easy, requestHeaders))
    // SAFETY: the thread holds this object for as long as libcurl may call back.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe easy_set_receivers(easy, receiveHeader, receiveBody, context)
    if request.isUpgrade {
      unsafe easy_set_sender(easy, sendBody, context)
      unsafe results.append(easy_set_socket_observer(easy, observeSocket, context))
    }
    return results.allSatisfy { $0 == CURLE_OK }
  }

  func resume() {
    guard isPaused else { return }
    isPaused = false
    heardAt = .now
    // This hands over the part that was refused. It may find no room again.
    unsafe curl_easy_pause(easy, CURLPAUSE_CONT)
  }

  func upload(_ bytes: [UInt8]) {
    upload += bytes
    guard isUploadPaused, isHeadComplete else { return }
    isUploadPaused = false
    unsafe curl_easy_pause(easy, isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
  }

  private var isUpgradeRefused: Bool { isUpgrade && isHeadComplete && !isUpgraded }

  /// Ends the upload if the broker has refused the upgrade. While the upload is paused, libcurl does not finish the transfer,
  /// although the answer is complete.
  func endRefusedUpload() {
    guard isUpgradeRefused, isUploadPaused else { return }
    isUploadPaused = false
    unsafe curl_easy_pause(easy, isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
  }

  /// - Returns: how many bytes were given, or libcurl's word for a pause.
  fileprivate func giveUpload(to room: UnsafeMutableRawBufferPointer) -> Int {
    if isUpgradeRefused { return 0 }
    let count = isHeadComplete ? min(upload.count, room.count) : 0
    guard count > 0 else {
      isUploadPaused = true
      return Int(CURL_READFUNC_PAUSE)
    }
    unsafe room.copyBytes(from: upload.prefix(count))
    upload.removeFirst(count)
    return count
  }

  /// How long the silence may still last. Nil while the client itself has stopped listening.
  func patience(now: ContinuousClock.Instant) -> Duration? {
    guard !isPaused else { return nil }
    let left = silence - (now - heardAt)
    guard left <= .zero else { return left }
    // A long body that still goes out on a slow line is no silence.
    let uploaded = unsafe easy_uploaded_bytes(easy)
    guard uploaded > uploadedBytes else { return .zero }
    uploadedBytes = uploaded
    heardAt = now
    return silence
  }

  // MARK: The end of an upgraded connection

  /// The socket to watch for its end. While an upload may go on, libcurl does not report that the other side has closed the
  /// connection, and reads no more of it.
  var socketToWatch: Int32? {
    guard isUpgrade, isHeadComplete, !isPaused else { return nil }
    return sockets.first(where: \.isConnected)?.descriptor
  }

  /// True if the broker has closed the connection. It becomes true only after libcurl had another turn in which nothing
  /// came: libcurl may hold a TLS record that it has yet to hand over.
  func hasHungUp() -> Bool {
    guard let descriptor = socketToWatch, ObservedSocket.isAtEnd(descriptor) else { return false }
    defer { endSeenAfter = heardAt }
    return endSeenAfter == heardAt
  }

  fileprivate func observe(_ descriptor: Int32) { sockets.append(ObservedSocket(descriptor)) }

  func makeFailure(for result: CURLcode) -> ExchangeFailure? {
    guard result != CURLE_OK else { return nil }
    if let refusal { return refusal }
    let words = unsafe String(cString: curl_easy_strerror(result))
    return switch result {
    case CURLE_PEER_FAILED_VERIFICATION: makeFailure(saying: certificateComplaint(words))
    case CURLE_SSL_CONNECT_ERROR:
      makeFailure(saying: "the TLS handshake failed, perhaps because this port speaks plain HTTP: \(words)")
    case CURLE_SSL_CACERT_BADFILE:
      makeFailure(saying: "the file with certificate authorities cannot be read as PEM: \(words)")
    // libcurl's own words for these speak of files and peers.
    case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR: makeFailure(saying: "the connection broke")
    default: makeFailure(saying: words)
    }
  }

  /// - Parameter words: libcurl's. They do not say if the authority is unknown or the certificate is for another host.
  private func certificateComplaint(_ words: String) -> String {
    switch unsafe easy_certificate_verdict(easy) {
    case Self.notYetValid: "the broker's certificate is not valid yet, by the clock of this machine"
    case Self.hasExpired: "the broker's certificate has expired, by the clock of this machine"
    default: "the broker's certificate is not trusted: \(words)"
    }
  }

  /// `X509_V_ERR_CERT_NOT_YET_VALID` and `X509_V_ERR_CERT_HAS_EXPIRED` of OpenSSL.
  private static let notYetValid = 9
  private static let hasExpired = 10

  /// A failure with these words. Its result does not show if the request was sent: if a kept connection breaks, libcurl
  /// sends the request again over a new one, and it is the new one that may be refused.
  func makeFailure(saying words: String) -> ExchangeFailure {
    unsafe easy_request_bytes(easy) == 0 ? .unsent(words) : .lost(words)
  }

  // MARK: Arriving

  /// - Parameter line: one header line with its line break.
  /// - Returns: false if libcurl is to stop.
  fileprivate func receivedHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    heardAt = .now
    // Headers behind the body of a chunked answer are of no use here.
    guard !isHeadComplete else { return true }
    headBytes += line.count
    guard headBytes <= ClientLimits.headBytes else {
      refusal = .lost("the headers of the answer are longer than \(ClientLimits.headBytes) bytes")
      return false
    }
    let text = unsafe String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    if text.isEmpty {
      completeHead()
    } else if let colon = text.firstIndex(of: ":") {
      let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      headers[text[..<colon].lowercased()] = value
    }
    return true
  }

  private func completeHead() {
    let status = unsafe easy_status(easy)
    defer { headers = [:] }
    // An interim answer. The final one follows.
    guard status >= 200 || isUpgrade && status == 101 else { return }
    isHeadComplete = true
    isUpgraded = status == 101
    inbox.put(.head(HTTPHead(status: status, headers: headers)))
  }

  /// - Returns: how many bytes were taken, or libcurl's word for a pause.
  fileprivate func receivedBody(_ bytes: UnsafeRawBufferPointer) -> Int {
    heardAt = .now
    switch unsafe inbox.put(.body(Data(bytes))) {
    case .taken: return bytes.count
    case .refusedEnded: return 0
    case .refusedFull:
      isPaused = true
      return Int(CURL_WRITEFUNC_PAUSE)
    }
  }
}

// SAFETY of all four functions: the context is the transfer, and libcurl's bytes are used during the call only.

private func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
  let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
  return unsafe transfer.receivedHeader(line) ? line.count : 0
}

private func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
  return unsafe transfer.receivedBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
}

private func observeSocket(
  _ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t, _ purpose: curlsocktype
) -> Int32 {
  guard let context = unsafe context else { return CURL_SOCKOPT_ERROR }
  unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().observe(descriptor)
  return CURL_SOCKOPT_OK
}

private func sendBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
  return unsafe transfer.giveUpload(to: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
}
