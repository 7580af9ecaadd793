import BelfryTransport
import CHiredis
import Glibc

/// Begins to connect a non-blocking socket with hiredis. The socket is connected when it becomes writable without an error.
///
/// - Parameter address: a host must be numeric, because hiredis blocks while it resolves a name.
/// - Returns: the socket, which belongs to the caller.
func beginConnecting(to address: RedisEndpoint.Address) throws(RedisError) -> Int32 {
  let place = RedisEndpoint(address).description
  let context: UnsafeMutablePointer<redisContext>?
  switch address {
  case .unixSocket(let path):
    guard path.utf8.count <= RedisEndpoint.unixSocketPathBytesMax else {
      // hiredis would cut the path off and connect to something else.
      let cause = "the path is longer than \(RedisEndpoint.unixSocketPathBytesMax) bytes"
      throw RedisError(.invalidEndpoint, cause: cause, place: place)
    }
    unsafe context = redisConnectUnixNonBlock(path)
  case .tcp(let host, let port):
    unsafe context = redisConnectNonBlock(host, CInt(port))
  case .master:
    throw RedisError(.invalidEndpoint, cause: "the Sentinels must be asked for its address", place: place)
  }
  guard let context = unsafe context else {
    throw RedisError(.unavailable, cause: "no memory for a connection", place: place)
  }
  guard unsafe context.pointee.err == 0 else {
    let cause = unsafe string(ofErrorText: context.pointee.errstr)
    unsafe redisFree(context)
    throw RedisError(.unavailable, cause: cause, place: place)
  }
  let descriptor = unsafe redisFreeKeepFd(context)
  // A redis-server started by this process must not inherit its connections.
  _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  return descriptor
}

/// The same, with what will carry the bytes. A handshake follows once the socket is connected.
/// - Parameter endpoint: whose address is numeric.
func beginTransport(
  to endpoint: RedisEndpoint, by tls: (context: TLSContext, host: String)?
) throws(RedisError) -> any ByteTransport {
  let descriptor = try beginConnecting(to: endpoint.address)
  guard let tls else { return SocketTransport(descriptor) }
  do throws(TLSError) {
    return try TLSTransport(descriptor, by: tls.context, expecting: tls.host)
  } catch {
    close(descriptor)
    throw RedisError(.unavailable, cause: error.cause, place: endpoint.description)
  }
}

/// OpenSSL's words for it, and ours where its are known to puzzle people.
func explainTLSFailure(_ cause: String) -> String {
  switch cause {
  case "wrong version number", "packet length too long":
    "TLS failed, perhaps because the port does not speak TLS: \(cause)"
  case "hostname mismatch", "IP address mismatch":
    "TLS failed: Redis's certificate is for another host (\(cause))"
  default: "TLS failed: \(cause)"
  }
}

/// hiredis's error texts are C strings in arrays of fixed size, which Swift sees as tuples.
func string<Tuple>(ofErrorText tuple: Tuple) -> String {
  unsafe withUnsafeBytes(of: tuple) { bytes in
    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}

func describe(errno number: Int32) -> String {
  unsafe String(cString: strerror(number))
}
