import Foundation
import TestKit
import Testing

@testable import BelfryStore

/// The rights in Redis that a broker asks for before it works.
@Suite struct RightsTests {
  private static let text = String(decoding: FunctionLibrary.functions, as: UTF8.self)

  /// The commands of the list in rights.lua.
  private static let needed: Set<String> = {
    let list =
      text.components(separatedBy: "local NEEDED = ").last?.components(separatedBy: "\n\n").first ?? ""
    let commands = list.components(separatedBy: CharacterSet(charactersIn: "',\n"))
    return Set(commands.compactMap { $0.split(separator: " ").first.map(String.init) }.filter { $0 != ".." })
  }()

  private func findMissingRights(_ redis: RedisServer) throws -> Set<String> {
    let words = try redis.command(
      "FCALL_RO", StoreFunction.findMissingRights.name, "0", RedisLayout.format, RedisLayout.rights)
    return Set(words.split(separator: " ").map(String.init))
  }

  /// A right that is not on the list would be missed only within a function, which then ends halfway.
  @Test func everyCommandOfTheFunctionsIsOnTheList() {
    let called = Set(Self.text.matches(of: #/redis_p?call\('([A-Z]+)'/#).map { String($0.1) })
    #expect(called.count > 40)
    #expect(called.subtracting(Self.needed) == [])
  }

  @Test func eachMissingRightIsNamed() async throws {
    try await withBroker { _, redis in
      #expect(try findMissingRights(redis) == [])
      for command in Self.needed.map({ $0.lowercased() }) where command != "fcall_ro" {
        try redis.command("ACL", "SETUSER", "default", "-\(command)")
        #expect(try findMissingRights(redis) == [command])
        try redis.command("ACL", "SETUSER", "default", "+\(command)")
      }
      try redis.command("ACL", "SETUSER", "default", "resetchannels", "&others:*")
      #expect(try findMissingRights(redis) == ["spublish", "ssubscribe"])
    }
  }

  /// Redis answered at once, so nobody should look for a slow network.
  @Test func aRefusalHalfwayNamesTheRight() {
    var error = StoreError(.accessRefused, "NOPERM", at: "commit")
    error.mayBeDone = true
    #expect(error.refusal.code == .unknownOutcome)
    #expect(error.refusal.detail.contains("(NOPERM), so the request may or may not have been carried out"))
  }

  /// The page for operators says which rights a broker needs.
  @Test func theRightsOfTheDocumentationSuffice() async throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appendingPathComponent("docs/operations.md"), encoding: .utf8)
    let rules = try #require(
      page.firstMatch(of: #/redis-cli ACL SETUSER belfry on '>PASSWORD' ([^`]*)```/#)?.1)
    try await withBroker { _, redis in
      let words = rules.filter { $0 != "'" && $0 != "\\" }.split(whereSeparator: \.isWhitespace).map(
        String.init)
      // The last one is for this test.
      try redis.command(["ACL", "SETUSER", "default", "reset", "on", "nopass"] + words + ["+acl"])
      #expect(try findMissingRights(redis) == [])
    }
  }
}
