package import BelfryTransport
import Foundation
import Glibc
import TestCertificates

/// An authority of the tests' own, and certificates that it signs, in files of a folder.
package struct TestAuthority: Sendable {
  package struct Identity: Sendable {
    package let certificateFile: String
    package let keyFile: String
    package let certificate: [UInt8]
    package let key: [UInt8]
  }

  /// Its own certificate, which clients trust.
  package let file: String
  private let folder: String
  private let certificate: [UInt8]
  private let key: [UInt8]

  package init(in folder: String, name: String = "Belfry's tests") throws(FixtureError) {
    self.folder = folder
    (certificate, key) = try makeCertificate(name, names: nil, by: nil, lasting: 86_400)
    file = "\(folder)/\(name.utf8.filter { $0 > 0x60 }.reduce(0) { $0 + Int($1) })-authority.pem"
    try write(certificate, to: file)
  }

  /// - Parameters:
  ///   - file: what the files are called, without their ends.
  ///   - names: whose it is, as OpenSSL writes alternative names.
  ///   - seconds: until when it is good; negative where it has expired.
  package func identity(
    _ file: String = "server", names: String = "DNS:localhost,IP:127.0.0.1", lasting seconds: Int = 86_400
  ) throws(FixtureError) -> Identity {
    let (certificate, key) = try makeCertificate(
      file, names: names, by: (self.certificate, self.key), lasting: seconds)
    let identity = Identity(
      certificateFile: "\(folder)/\(file).pem", keyFile: "\(folder)/\(file)-key.pem",
      certificate: certificate,
      key: key)
    try write(certificate, to: identity.certificateFile)
    try write(key, to: identity.keyFile)
    return identity
  }

  /// For a client that trusts it.
  package func clientContext() throws -> TLSContext { try TLSContext(trusting: certificate, as: nil) }
}

private func write(_ bytes: [UInt8], to path: String) throws(FixtureError) {
  // The file is renamed, so that a reader finds the old one or the new one.
  guard
    FileManager.default.createFile(
      atPath: path + ".new", contents: Data(bytes), attributes: [.posixPermissions: 0o600]),
    unsafe rename(path + ".new", path) == 0
  else { throw FixtureError("cannot write \(path)") }
}

private func makeCertificate(
  _ name: String, names: String?, by issuer: (certificate: [UInt8], key: [UInt8])?, lasting seconds: Int
) throws(FixtureError) -> (certificate: [UInt8], key: [UInt8]) {
  let room = 8_192
  var (certificate, key) = ([CChar](repeating: 0, count: room), [CChar](repeating: 0, count: room))
  func text(_ bytes: [UInt8]?) -> [CChar]? { bytes.map { $0.map { CChar(bitPattern: $0) } + [0] } }
  let begin = min(0, seconds) - 3_600
  // SAFETY: it writes no more than the room, a zero at the end included.
  let done = unsafe make_test_certificate(
    name, names, text(issuer?.certificate), text(issuer?.key), begin, seconds, &certificate, &key, room)
  guard done == 1 else { throw FixtureError("no certificate for \(name)") }
  func bytes(_ text: [CChar]) -> [UInt8] { text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) } }
  return (bytes(certificate), bytes(key))
}

/// With `BELFRY_TEST_TLS=1` tests that use HTTP use it over TLS. There is one authority and one certificate
/// for the whole run.
package enum TestTLS {
  package static let isOn = ProcessInfo.processInfo.environment["BELFRY_TEST_TLS"] == "1"

  /// nil where it is off.
  package static let shared:
    (authority: TestAuthority, identity: TestAuthority.Identity, context: TLSContext)? = {
      guard isOn, let folder = try? makeTemporaryFolder(), let authority = try? TestAuthority(in: folder),
        let identity = try? authority.identity(), let context = try? authority.clientContext()
      else { return nil }
      atexit {
        TestTLS.shared.map {
          removeFolder(URL(fileURLWithPath: $0.authority.file).deletingLastPathComponent().path)
        }
      }
      return (authority, identity, context)
    }()
}
