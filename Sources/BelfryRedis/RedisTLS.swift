import BelfryBytes
import BelfryTransport
import Glibc

/// The encryption of connections to a Redis: the PEM files with the trusted authorities, and with the
/// client's own certificate and key.
package struct RedisTLS: Sendable, Hashable {
  /// The authorities; one of them must have signed Redis's certificate. Nil: those that the system trusts.
  package var authorityFile: String?
  /// The certificate for a Redis that asks for one (`tls-auth-clients`), and its key: both or neither.
  package var certificateFile: String?
  package var keyFile: String?

  package init() {}

  /// Reads `ca=FILE&cert=FILE&key=FILE`. Each field may be left out.
  init(query: Substring) throws(RedisError) {
    for field in query.split(separator: "&") {
      let name = field.prefix { $0 != "=" }
      guard let file = percentDecoded(field.dropFirst(name.count + 1).utf8, plusIsSpace: false),
        !file.isEmpty, !file.utf8.contains(0)
      else { throw .invalidEndpoint("\(name)= must name a file") }
      switch name {
      case "ca": authorityFile = file
      case "cert": certificateFile = file
      case "key": keyFile = file
      default: throw .invalidEndpoint("only ?ca=, cert= and key= may follow a rediss:// address")
      }
    }
    guard (certificateFile == nil) == (keyFile == nil) else {
      throw .invalidEndpoint("cert= and key= go together")
    }
  }

  /// - Throws: the reason why the files cannot be used, with the faulty file.
  func makeContext() throws(RedisError) -> TLSContext {
    let authorities = try authorityFile.map { path throws(RedisError) in try Self.read(path) }
    var identity: TLSIdentity?
    if let certificateFile, let keyFile {
      identity = TLSIdentity(certificates: try Self.read(certificateFile), key: try Self.read(keyFile))
    }
    do throws(TLSError) {
      return try TLSContext(trusting: authorities, as: identity)
    } catch {
      let file: String? =
        switch error.code {
        case .badAuthorities: authorityFile
        case .badCertificate: certificateFile
        case .badKey, .keyOfAnother: keyFile
        case .badHost, .noMemory: nil
        }
      throw RedisError(.invalidEndpoint, cause: error.cause, place: file ?? "TLS")
    }
  }

  /// A system's file with all authorities has a quarter of a megabyte.
  private static let fileBytesMax = 4 << 20

  private static func read(_ path: String) throws(RedisError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw unreadable(path) }
    defer { close(descriptor) }
    var content: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while content.count <= fileBytesMax {
      let count = unsafe Glibc.read(descriptor, &piece, piece.count)
      guard count >= 0 else { throw unreadable(path) }
      if count == 0 { return content }
      content += piece[..<count]
    }
    throw RedisError(.invalidEndpoint, cause: "it is larger than \(fileBytesMax) bytes", place: path)
  }

  private static func unreadable(_ path: String) -> RedisError {
    RedisError(.invalidEndpoint, cause: "cannot read it: \(describe(errno: errno))", place: path)
  }
}

extension RedisEndpoint {
  /// Reads the files that the endpoint names.
  /// - Throws: if one of them is missing, or cannot be used.
  package func checkFiles() throws(RedisError) { _ = try tls?.makeContext() }
}

/// The context of a link's connections. The files are read again if they have changed: an authority is
/// replaced, and a client's certificate is renewed, while a broker runs.
struct RedisTLSContexts {
  private struct Known {
    var versions: [FileVersion]
    var context: TLSContext
  }

  private let tls: RedisTLS
  private var known: Known?

  init(_ tls: RedisTLS) { self.tls = tls }

  /// The context for the next connection.
  mutating func context() throws(RedisError) -> TLSContext {
    let versions = [tls.authorityFile, tls.certificateFile, tls.keyFile].map(FileVersion.init)
    if let known, known.versions == versions { return known.context }
    let context = try tls.makeContext()
    known = Known(versions: versions, context: context)
    return context
  }
}

/// Values that change with the content of a file.
private struct FileVersion: Hashable {
  private var inode: UInt64 = 0
  private var size: Int64 = 0
  private var seconds = 0
  private var nanoseconds = 0

  init(_ path: String?) {
    var status = stat()
    guard let path, unsafe stat(path, &status) == 0 else { return }
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}
