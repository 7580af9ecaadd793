import Foundation
import ScriptedServer

/// The built `belfry`, run as a person runs it.
struct Executable {
  struct Outcome {
    var code: Int32
    var out: String
    var err: String
  }

  var environment: [String: String]

  /// - Parameter server: where `--url` points; nil leaves it out.
  init(token: String? = "t") {
    environment = ["TZ": "UTC", "PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
    environment["BELFRY_TOKEN"] = token
  }

  /// Beside the tests' own executable.
  static func path() throws -> URL {
    URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      .deletingLastPathComponent().appendingPathComponent("belfry")
  }

  func process(_ words: [String]) throws -> (process: Process, out: FileHandle, err: FileHandle) {
    let process = Process()
    process.executableURL = try Self.path()
    process.arguments = words
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    let out = Pipe()
    let err = Pipe()
    process.standardOutput = out
    process.standardError = err
    try process.run()
    return (process, out.fileHandleForReading, err.fileHandleForReading)
  }

  func run(_ words: String...) throws -> Outcome { try run(words) }

  func run(_ words: [String]) throws -> Outcome {
    let (process, out, err) = try process(words)
    // A command prints far less to stderr than a pipe holds, so reading one after the other cannot block it.
    let outText = String(decoding: try out.readToEnd() ?? Data(), as: UTF8.self)
    let errText = String(decoding: try err.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return Outcome(code: process.terminationStatus, out: outText, err: errText)
  }
}
