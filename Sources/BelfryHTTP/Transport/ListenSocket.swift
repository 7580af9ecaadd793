import Glibc

/// A socket that accepts connections. Each loop has its own on the same port, among which the kernel
/// distributes the connections (SO_REUSEPORT).
package struct ListenSocket: Sendable {
  package let descriptor: Int32
  package let port: Int

  /// Opens as many sockets on one port as there are loops.
  /// - Parameters:
  ///   - host: a name or a numeric address. If it has several addresses, the first that can be bound is used.
  ///   - port: 0 lets the kernel choose.
  package static func open(host: String, port: Int, count: Int = 1) throws(HTTPError) -> [ListenSocket] {
    // SO_REUSEPORT would let a second broker share the port of the first. So the first try is without it, and fails
    // if somebody listens there.
    let probe = try open(host: host, port: port, isShared: false)
    close(probe.descriptor)
    var sockets: [ListenSocket] = []
    for _ in 0..<max(count, 1) {
      do {
        sockets.append(try open(host: host, port: probe.port, isShared: true))
      } catch {
        for socket in sockets { close(socket.descriptor) }
        throw error
      }
    }
    return sockets
  }

  private static func open(host: String, port: Int, isShared: Bool) throws(HTTPError) -> ListenSocket {
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var addresses: UnsafeMutablePointer<addrinfo>?
    let result = unsafe getaddrinfo(host, "\(port)", &hints, &addresses)
    guard result == 0 else {
      let cause = unsafe String(cString: gai_strerror(result))
      throw HTTPError(code: .unknownHost, cause: cause, place: "getaddrinfo \(host)")
    }
    defer { unsafe freeaddrinfo(addresses) }

    var failure = HTTPError(
      code: .unknownHost, cause: "the host has no address", place: "getaddrinfo \(host)")
    var next = unsafe addresses
    while let address = unsafe next {
      do throws(HTTPError) {
        return try unsafe open(address.pointee, place: "\(host):\(port)", isShared: isShared)
      } catch {
        failure = error
        unsafe next = address.pointee.ai_next
      }
    }
    throw failure
  }

  // SAFETY: the address is getaddrinfo's, with its own length.
  private static func open(_ address: addrinfo, place: String, isShared: Bool) throws(HTTPError)
    -> ListenSocket
  {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = unsafe socket(address.ai_family, kind, 0)
    guard descriptor >= 0 else { throw HTTPError.last(.listenRefused, "socket \(place)") }
    do throws(HTTPError) {
      set(descriptor, SOL_SOCKET, SO_REUSEADDR)
      if isShared { set(descriptor, SOL_SOCKET, SO_REUSEPORT) }
      // Connections take it over.
      set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, HTTPLimits.kernelUnsentBytes)
      guard unsafe bind(descriptor, address.ai_addr, address.ai_addrlen) == 0 else {
        throw HTTPError.last(.listenRefused, "bind \(place)")
      }
      // The probe listens as well: two sockets that are only bound would not conflict.
      guard listen(descriptor, HTTPLimits.backlog) == 0 else {
        throw HTTPError.last(.listenRefused, "listen \(place)")
      }
    } catch {
      close(descriptor)
      throw error
    }
    return ListenSocket(descriptor: descriptor, port: boundPort(descriptor))
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32 = 1) {
    var value = value
    unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  // SAFETY: the kernel writes no more than the length it is given; both families have the port in one place.
  private static func boundPort(_ descriptor: Int32) -> Int {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    unsafe withUnsafeMutablePointer(to: &address) {
      _ = unsafe getsockname(
        descriptor, UnsafeMutableRawPointer($0).assumingMemoryBound(to: sockaddr.self), &length)
    }
    return Int(UInt16(bigEndian: address.sin6_port))
  }
}
