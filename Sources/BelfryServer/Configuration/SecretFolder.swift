package import BelfryBytes
import Foundation
import Glibc

/// The secrets in a data folder. `secret` signs; the secrets in `secrets/`, each in a file named after its
/// `kid`, are also accepted. Commands change them while a broker runs, and the broker reads them again.
package struct SecretFolder: Sendable {
  private let folder: String
  private var signingPath: String { folder + "/secret" }
  private var othersPath: String { folder + "/secrets" }

  /// The number of characters of a `kid`.
  package static let kidLength = TokenKey.kidLength

  /// - Parameter folder: the data folder.
  package init(inDataFolder folder: String) { self.folder = folder }

  package func signing() throws(StartError) -> TokenSigner { try Self.signer(signingPath) }

  /// All secrets, the signing one first.
  package func all() throws(StartError) -> [TokenSigner] {
    var signers = [try signing()]
    for name in try otherNames() { signers.append(try Self.signer("\(othersPath)/\(name)")) }
    return signers
  }

  var isThere: Bool { unsafe access(signingPath, F_OK) == 0 }

  func makeIfMissing() throws(StartError) {
    if isThere { return }
    try SigningSecret.random().write(to: signingPath)
  }

  private static func signer(_ path: String) throws(StartError) -> TokenSigner {
    TokenSigner(secret: try SigningSecret(file: path, openness: .closed).bytes)
  }

  /// Names with a dot are left out: drafts that are being written have one, and a `kid` made from a secret
  /// has none.
  private func otherNames() throws(StartError) -> [String] {
    guard unsafe access(othersPath, F_OK) == 0 else { return [] }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: othersPath)
        .filter { !$0.utf8.contains(UInt8(ascii: ".")) }.sorted()
    } catch {
      throw StartError(.secretUnusable, "cannot read the folder", at: othersPath)
    }
  }
}

// MARK: - Rotation

extension SecretFolder {
  /// The time after which all brokers have read changed files, even slow brokers.
  package static let settlingTime: Duration = FileWatch.interval * 2 + .seconds(1)

  /// The first half of a rotation: makes a secret that brokers accept, and that does not sign yet.
  /// - Returns: its `kid`.
  package func addNext() throws(StartError) -> UTF8Text {
    // The broker could not read another user's file, and would not start.
    try Folder.checkOwner(signingPath)
    let count = try all().count
    guard count < TokenKeys.keysPerAlgorithmMax else {
      throw StartError(
        .secretUnusable, "there are \(count) secrets, which is the limit: run belfry secret retire first",
        at: othersPath
      )
    }
    guard unsafe mkdir(othersPath, 0o700) == 0 || errno == EEXIST else {
      throw .refused(.secretUnusable, "cannot make the folder", at: othersPath)
    }
    return try add(.random())
  }

  /// The second half of a rotation: the new secret signs from now on, and the previous one is still accepted.
  /// At each moment in between, and after a crash, all of them are accepted.
  package func sign(with kid: UTF8Text) throws(StartError) {
    let next = try SigningSecret(file: "\(othersPath)/\(kid)", openness: .closed)
    _ = try add(try SigningSecret(file: signingPath, openness: .closed))
    try next.write(to: signingPath)
    try remove(kid)
  }

  /// From now on, refuses the tokens that this secret has signed, and ends their streams.
  package func retire(_ kid: UTF8Text) throws(StartError) {
    try Folder.checkOwner(signingPath)
    guard try signing().kid != kid else {
      throw StartError(
        .secretUnusable,
        "\(kid) signs new tokens and cannot be retired: run belfry secret rotate first, so that another secret signs",
        at: signingPath)
    }
    guard try otherNames().contains(where: { UTF8Text($0) == kid }) else {
      throw StartError(
        .secretUnusable, "there is no secret \(kid) to retire: belfry secret list shows all", at: othersPath)
    }
    try remove(kid)
  }

  private func add(_ secret: SigningSecret) throws(StartError) -> UTF8Text {
    let kid = TokenSigner(secret: secret.bytes).kid
    try secret.write(to: "\(othersPath)/\(kid)")
    return kid
  }

  private func remove(_ kid: UTF8Text) throws(StartError) {
    let path = "\(othersPath)/\(kid)"
    guard unsafe unlink(path) == 0 else { throw .refused(.secretUnusable, "cannot remove it", at: path) }
  }
}
