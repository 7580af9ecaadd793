import BelfryBytes
import BelfrySystem
import Foundation
import Synchronization
import TestKit
import Testing

@testable import BelfryServer

@Suite struct KeyWatchTests {
  private func set(_ members: String...) -> String { #"{"keys":[\#(members.joined(separator: ","))]}"# }
  private let rsa = #"{"kty":"RSA","kid":"rsa-1","n":"\#(TokenSamples.rsaN)","e":"AQAB"}"#
  private let ed25519 = #"{"kty":"OKP","crv":"Ed25519","kid":"ed-1","x":"\#(TokenSamples.ed25519X)"}"#

  @Test func aSetThatChangesIsReadAgain() async throws {
    try await TemporaryFolder.with { folder in
      let path = try folder.write(set(rsa), to: "keys.json", mode: 0o644)
      var configuration = Configuration()
      configuration.secret = .text(String(repeating: "s", count: 32))
      configuration.tokens.jwksFile = path
      let fixed = configuration
      let read: RereadFiles<TokenKeys>.Reading = { () throws(StartError) in
        try TokenKeys(for: fixed, inDataFolder: folder.path)
      }
      let seen = SeenKeys()
      let files = RereadFiles(
        from: try read(), reading: read,
        onFailure: "new token keys are unusable, so the earlier ones stay in use",
        onRecovery: "the files of token keys are usable again"
      ) {
        seen.add($0)
      }
      let looks = Looks()
      let watch = try FileWatch([{ looks.count { files.look() } }])
      let thread = try SystemThread("keys") { watch.run() }
      defer {
        watch.requestStop()
        thread.join()
      }
      for text in [set(rsa, ed25519), "{", set(ed25519)] {
        _ = try folder.write(text, to: "keys.json", mode: 0o644)
        let begun = looks.begun
        watch.lookNow()
        // One that had begun before the file was written may not have seen it.
        try await eventually { looks.ended > begun }
      }
      let accepted = seen.all.map { keys in
        [TokenSamples.rs, TokenSamples.ed].map { token in
          (try? keys.verify(UTF8Text(token), nowSeconds: 0)) != nil
        }
      }
      // A file that is not a key set has changed nothing.
      #expect(accepted == [[true, true], [false, true]])
    }
  }
}

/// How many looks have begun, and the number of the last one that has ended.
private final class Looks: Sendable {
  private let counts = Mutex<(begun: Int, ended: Int)>((0, 0))
  var begun: Int { counts.withLock { $0.begun } }
  var ended: Int { counts.withLock { $0.ended } }

  func count(_ look: () -> Void) {
    counts.withLock { $0.begun += 1 }
    look()
    counts.withLock { $0.ended = $0.begun }
  }
}

private final class SeenKeys: Sendable {
  private let keys = Mutex<[TokenKeys]>([])
  var all: [TokenKeys] { keys.withLock { $0 } }
  func add(_ new: TokenKeys) { keys.withLock { $0.append(new) } }
}
