import Foundation
import TestKit

extension Person {
  /// The end of a command, and its output.
  struct Typed: CustomStringConvertible {
    let code: Int32
    let out: String
    let err: String

    var description: String { "ended with \(code)\n\(out)\(err)" }
    var lines: [String] { out.split(separator: "\n").map(String.init) }
  }

  /// Types a command of `belfry` with this person's token, at their broker.
  func type(_ words: String...) throws -> Typed {
    let (process, output, errors) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(filePath: Broker.executable)
    process.arguments = words
    process.environment = [
      "BELFRY_TOKEN": String(headers["Authorization"]?.dropFirst("Bearer ".count) ?? ""),
      "BELFRY_URL": broker.url, "TZ": "UTC",
    ]
    if let tls = TestTLS.shared { process.environment?["BELFRY_CA"] = tls.authority.file }
    (process.standardInput, process.standardOutput, process.standardError) = (
      FileHandle.nullDevice, output, errors
    )
    try process.run()
    // A command prints far less to either than a pipe holds.
    let out = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let err = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return Typed(code: process.terminationStatus, out: out, err: err)
  }
}
