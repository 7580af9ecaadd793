import Foundation
import TestKit
import Testing

/// Runs Autobahn's fuzzing client, which is no part of the build, against the echo server, to find mistakes
/// in the framing. `BELFRY_AUTOBAHN` names the program that runs the cases (`scripts/check-sockets`).
@Suite struct AutobahnTests {
  private static let program = ProcessInfo.processInfo.environment["BELFRY_AUTOBAHN"]

  /// Cases that send binary messages and expect them back. Only text is taken: these are closed with 1003.
  private static let binary = ["1.2.", "9.2.", "9.4.", "9.6.", "9.8."]

  @Test(.enabled(if: program != nil)) func allCasesButThoseOfBinaryMessages() async throws {
    let server = try TestServer()
    let folder = try makeTemporaryFolder()
    defer { removeFolder(folder) }
    let spec: [String: Any] = [
      "outdir": folder + "/report", "cases": ["*"], "exclude-agent-cases": [String: Any](),
      // Compression, which is not offered.
      "exclude-cases": ["12.*", "13.*"],
      "servers": [
        [
          "agent": "Belfry", "url": "ws://127.0.0.1:\(server.port)/socket?most=16777216",
          "protocols": ["belfry.v1.json"], "options": ["version": 18],
        ] as [String: Any]
      ],
    ]
    let path = folder + "/spec.json"
    try JSONSerialization.data(withJSONObject: spec).write(to: URL(filePath: path))
    let process = Process()
    process.executableURL = URL(filePath: try #require(Self.program))
    process.arguments = ["--mode", "fuzzingclient", "--spec", path]
    process.currentDirectoryURL = URL(filePath: folder)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    let index = try JSONSerialization.jsonObject(
      with: Data(contentsOf: URL(filePath: folder + "/report/index.json")))
    let cases = try #require((index as? [String: [String: [String: Any]]])?["Belfry"])
    var counts: [String: Int] = [:]
    for (name, result) in cases {
      let behavior = result["behavior"] as? String ?? "none"
      let close = result["behaviorClose"] as? String ?? "none"
      let isBinary = Self.binary.contains { name.hasPrefix($0) }
      counts[isBinary ? "binary \(behavior)" : behavior, default: 0] += 1
      let isGood = ["OK", "NON-STRICT", "INFORMATIONAL"].contains(behavior)
      #expect(isGood != isBinary, "\(name): \(behavior)")
      #expect(isBinary || ["OK", "INFORMATIONAL"].contains(close), "\(name): closed \(close)")
      if behavior == "NON-STRICT" { print("not strict: \(name)") }
    }
    #expect(cases.count > 200)
    print(counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
  }
}
