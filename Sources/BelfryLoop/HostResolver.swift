import BelfrySystem
import Glibc

/// Finds the addresses of a host by name, by `getaddrinfo` on a thread of its own: it blocks, for seconds if the name
/// server is away. At most one look-up is under way, so such threads do not add up.
package final class HostResolver {
  /// The addresses as numbers, or why there are none.
  package typealias Answer = Result<[String], HostLookupFailure>

  private let loop: EventLoop
  package let host: String
  private var isResolving = false
  private var completion: ((Answer) -> Void)?

  package init(host: String, loop: EventLoop) {
    self.host = host
    self.loop = loop
  }

  /// The host itself if it is a numeric address, and the loopback's address for `localhost`; nil otherwise.
  package static func knownAddress(of host: String) -> String? {
    if host == "localhost" { return "127.0.0.1" }
    var address = in6_addr()
    let isNumeric = unsafe inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    return isNumeric ? host : nil
  }

  /// Looks the name up and calls back on the loop. A later call replaces an earlier one that still waits.
  package func resolve(_ completion: @escaping (Answer) -> Void) {
    self.completion = completion
    guard !isResolving else { return }
    isResolving = true
    let lookup = HostLookup(host: host, loop: loop) { answer in
      self.isResolving = false
      let completion = self.completion.take()
      completion?(answer)
    }
    if let error = lookup.start() {
      isResolving = false
      self.completion = nil
      completion(.failure(error))
    }
  }

  package func forget() {
    completion = nil
  }
}

/// One look-up, handed to another thread and back.
///
/// SAFETY of `@unchecked Sendable`: the thread reads only `host` and `loop`, both immutable and Sendable;
/// `completion` is called, and released with the action that holds this, on the loop alone.
private final class HostLookup: @unchecked Sendable {
  private let host: String
  private let loop: EventLoop
  private var completion: ((HostResolver.Answer) -> Void)?

  init(host: String, loop: EventLoop, completion: @escaping (HostResolver.Answer) -> Void) {
    self.host = host
    self.loop = loop
    self.completion = completion
  }

  /// - Returns: the error if the system has no thread for it.
  func start() -> HostLookupFailure? {
    do throws(SystemError) {
      try SystemThread("resolver") { self.run() }.detach()
      return nil
    } catch {
      return HostLookupFailure(host: host, cause: "no thread to resolve it: \(error)")
    }
  }

  private func run() {
    let answer = HostResolver.lookUp(host)
    loop.perform {
      let completion = self.completion.take()
      completion?(answer)
    }
  }
}

extension HostResolver {
  /// Blocks until the name server has answered.
  package static func lookUp(_ host: String) -> Answer {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = unsafe getaddrinfo(host, nil, &hints, &list)
    guard status == 0 else {
      let cause = unsafe String(cString: gai_strerror(status))
      return .failure(HostLookupFailure(host: host, cause: "the host name cannot be resolved: \(cause)"))
    }
    defer { unsafe freeaddrinfo(list) }
    var addresses: [String] = []
    var next = unsafe list
    while let entry = unsafe next {
      if let address = unsafe numericAddress(of: entry.pointee) { addresses.append(address) }
      unsafe next = entry.pointee.ai_next
    }
    return .success(addresses)
  }

  private static func numericAddress(of entry: addrinfo) -> String? {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let status = unsafe getnameinfo(
      entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    guard status == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// Why a host has no address.
package struct HostLookupFailure: Error, Sendable, Hashable {
  package let host: String
  package let cause: String

  package init(host: String, cause: String) {
    self.host = host
    self.cause = cause
  }
}
