import Glibc

/// Why the server could not start.
package struct HTTPError: Error, Equatable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The host to listen on has no address.
    case unknownHost
    /// Another process listens there.
    case addressInUse
    /// The kernel refused the address or the socket: it is not ours, or needs more rights.
    case listenRefused
    /// The loop refused, for want of descriptors or memory.
    case startRefused
  }

  package let code: Code
  /// The system's message.
  package let cause: String
  /// The action that failed, such as `bind [::1]:8080`.
  package let place: String

  package var description: String {
    "\(place): \(cause) (\(code.rawValue))"
  }
}

extension HTTPError {
  /// Takes the cause from `errno`.
  static func last(_ code: Code, _ place: String) -> HTTPError {
    let number = errno
    let cause = unsafe String(cString: strerror(number))
    return HTTPError(code: number == EADDRINUSE ? .addressInUse : code, cause: cause, place: place)
  }
}
