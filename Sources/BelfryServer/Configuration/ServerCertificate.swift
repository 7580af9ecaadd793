import BelfryBytes
import BelfrySystem
import BelfryTransport

/// The certificate that clients are shown, and its files, which are read again while the broker runs.
final class ServerCertificate: Sendable {
  let tls: ServerTLS
  private let files: RereadFiles<TLSIdentity>

  /// A chain of certificates has some kilobytes.
  private static let fileMaxBytes = 256 << 10

  /// - Returns: nil if none is configured, and the broker speaks plain HTTP.
  static func load(_ settings: TLSSettings) throws(StartError) -> ServerCertificate? {
    guard let certificateFile = settings.certificateFile, let keyFile = settings.keyFile else { return nil }
    return try ServerCertificate(certificateFile, keyFile, settings.minimum)
  }

  /// Why files cannot be read, for each of them.
  static func findUnreadable(_ settings: TLSSettings) -> [StartError] {
    var errors: [StartError] = []
    if let file = settings.certificateFile {
      do throws(StartError) { _ = try read(certificateFile: file) } catch { errors.append(error) }
    }
    if let file = settings.keyFile {
      do throws(StartError) { _ = try read(keyFile: file) } catch { errors.append(error) }
    }
    return errors
  }

  private static func read(certificateFile file: String) throws(StartError) -> [UInt8] {
    try StartError.naming("tls.certificateFile") { () throws(StartError) in
      try SmallFile.read(file, sizeMaxBytes: fileMaxBytes)
    }
  }

  private static func read(keyFile file: String) throws(StartError) -> [UInt8] {
    try StartError.naming("tls.keyFile") { () throws(StartError) in
      try SmallFile.read(file, sizeMaxBytes: fileMaxBytes, openness: .readable)
    }
  }

  private init(_ certificateFile: String, _ keyFile: String, _ minimum: TLSVersion) throws(StartError) {
    let read: RereadFiles<TLSIdentity>.Reading = { () throws(StartError) in
      TLSIdentity(
        certificates: try Self.read(certificateFile: certificateFile), key: try Self.read(keyFile: keyFile),
        minimum: minimum)
    }
    let identity = try read()
    let tls: ServerTLS
    do throws(TLSError) {
      tls = try ServerTLS(identity)
    } catch {
      throw Self.refused(error, certificateFile, keyFile)
    }
    self.tls = tls
    files = RereadFiles(
      from: identity, reading: read,
      onFailure: "the new certificate is unusable, so the earlier one stays in use",
      onRecovery: "the files of the certificate are usable again"
    ) {
      identity throws(StartError) in
      do throws(TLSError) {
        try tls.take(identity)
      } catch {
        throw Self.refused(error, certificateFile, keyFile)
      }
      Log.line("the certificate has changed", ["certificateExpires": Self.until(tls)])
      if let flaw = Self.flaw(of: tls) { Log.line(flaw) }
    }
  }

  private static func refused(_ error: TLSError, _ certificate: String, _ key: String) -> StartError {
    let place =
      switch error.code {
      case .badKey, .keyOfAnother: "tls.keyFile: \(key)"
      case .badCertificate, .badAuthorities, .badHost, .noMemory: "tls.certificateFile: \(certificate)"
      }
    return StartError(.certificateUnusable, error.cause, at: place)
  }

  /// Takes over the files if they have changed. Called on a thread that may wait.
  func look() {
    files.look()
    // If no new keys for tickets can be made, the earlier ones stay in use. The next look tries again.
    try? tls.renewTickets()
  }

  var until: String { Self.until(tls) }

  /// The last second in which the certificate is valid, since 1970.
  var expirySeconds: Int64 { tls.context.certificateTimes.upperBound }

  private static func until(_ tls: ServerTLS) -> String {
    Timestamp.text(milliseconds: tls.context.certificateTimes.upperBound * 1_000)
  }

  /// The reason for clients to reject the certificate; nil: there is none.
  var flaw: String? { Self.flaw(of: tls) }

  private static func flaw(of tls: ServerTLS) -> String? {
    let (times, now) = (tls.context.certificateTimes, WallClock.nowMilliseconds() / 1_000)
    if now > times.upperBound {
      return "the certificate expired at \(until(tls)), so clients refuse it: replace it"
    }
    let begin = Timestamp.text(milliseconds: times.lowerBound * 1_000)
    return now < times.lowerBound
      ? "the certificate is valid only from \(begin), so clients refuse it until then: correct this machine's clock, or replace the certificate"
      : nil
  }
}
