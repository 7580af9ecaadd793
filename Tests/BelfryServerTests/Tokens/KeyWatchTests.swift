import BelfryBytes
import BelfrySystem
import Foundation
import Synchronization
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
      let files = RereadFiles(from: try read(), reading: read, onFailure: "keys stay as they were") {
        seen.add($0)
      }
      let watch = try FileWatch([{ files.look() }])
      let thread = try SystemThread("keys") { watch.run() }
      defer {
        watch.requestStop()
        thread.join()
      }
      for text in [set(rsa, ed25519), "{", set(ed25519)] { try await Self.write(text, folder) }
      let accepted = seen.all.map { keys in
        [TokenSamples.rs, TokenSamples.ed].map { token in
          (try? keys.verify(UTF8Text(token), nowSeconds: 0)) != nil
        }
      }
      // What is no set has changed nothing.
      #expect(accepted == [[true, true], [false, true]])
    }
  }

  private static func write(_ text: String, _ folder: TemporaryFolder) async throws {
    _ = try folder.write(text, to: "keys.json", mode: 0o644)
    try await Task.sleep(for: FileWatch.interval + .seconds(1))
  }
}

private final class SeenKeys: Sendable {
  private let keys = Mutex<[TokenKeys]>([])
  var all: [TokenKeys] { keys.withLock { $0 } }
  func add(_ new: TokenKeys) { keys.withLock { $0.append(new) } }
}
