import Glibc

/// A refusal by the kernel.
package struct SystemError: Error, Equatable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The process or the machine has no more descriptors, threads or memory for it.
    case exhausted
    /// The descriptor is closed, of a kind epoll cannot watch, or watched already.
    case unwatchable
    /// Anything else the kernel said no to.
    case refused
  }

  package let code: Code
  /// The kernel's error number.
  package let cause: Int32
  /// The call that failed, as `epoll_ctl`.
  package let place: String

  package init(cause: Int32, place: String) {
    self.cause = cause
    self.place = place
    self.code =
      switch cause {
      case EMFILE, ENFILE, ENOMEM, ENOSPC, EAGAIN: .exhausted
      case EBADF, EPERM, EEXIST: .unwatchable
      default: .refused
      }
  }

  package var description: String {
    let reason = unsafe String(cString: strerror(cause))
    return "\(place): \(reason) (\(code.rawValue))"
  }
}

/// Turns the C convention "-1, and look at errno" into a typed error.
@discardableResult
package func systemCall(_ place: StaticString, _ call: () -> Int32) throws(SystemError) -> Int32 {
  let result = call()
  guard result >= 0 else { throw SystemError(cause: errno, place: "\(place)") }
  return result
}
