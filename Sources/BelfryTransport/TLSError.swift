/// Why there is no TLS.
package struct TLSError: Error, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The file with the certificates holds none, or one that cannot be used.
    case badCertificate
    /// The file with the key holds none, or one with a password.
    case badKey
    /// The key is another certificate's.
    case keyOfAnother
    /// The file with the authorities holds no certificate.
    case badAuthorities
    /// The host to connect to is neither a name nor an address.
    case badHost
    case noMemory
  }

  package let code: Code
  /// OpenSSL's message, if there is one.
  package let cause: String

  init(_ code: Code, _ cause: String) {
    self.code = code
    self.cause = cause
  }

  package var description: String { "\(cause) (\(code.rawValue))" }
}

extension TLSError {
  private static let causeBytes = 160

  /// Gives a call room for an error message. Nothing is allocated if there is no error.
  ///
  /// SAFETY: a call that fails with a positive number or none at all writes a message that ends with a zero.
  static func cause(
    _ call: (UnsafeMutablePointer<CChar>, Int) -> Int32
  ) -> (result: Int, cause: String) {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: causeBytes) { room in
      guard let start = room.baseAddress else { return (0, "") }
      unsafe start.initialize(to: 0)
      let result = unsafe call(start, room.count)
      let cause = unsafe start.pointee == 0 ? "" : String(cString: start)
      return (Int(result), cause)
    }
  }
}
