import Foundation
import TestKit

/// The built `belfry`, run as a person runs it.
struct Executable {
  struct Outcome {
    var code: Int32
    var out: String
    var err: String
  }

  var environment: [String: String]

  /// - Parameter token: the token in the environment; nil leaves it out.
  init(token: String? = "t") {
    environment = ["TZ": "UTC", "PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
    environment["BELFRY_TOKEN"] = token
  }

  /// The path next to the tests' own executable.
  static func path() throws -> URL {
    URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      .deletingLastPathComponent().appendingPathComponent("belfry")
  }

  /// Runs in a folder outside the clone, since `scripts/run` leaves a `data` folder there that commands would find.
  ///
  /// - Parameter input: the text on its standard input; nil: nothing.
  func process(_ words: [String], input: String? = nil) throws -> (
    process: Process, out: FileHandle, err: FileHandle
  ) {
    let process = Process()
    process.executableURL = try Self.path()
    process.arguments = words
    process.environment = environment
    process.currentDirectoryURL = URL(fileURLWithPath: "/")
    let source = Pipe()
    process.standardInput = input == nil ? FileHandle.nullDevice : source
    let out = Pipe()
    let err = Pipe()
    process.standardOutput = out
    process.standardError = err
    try process.run()
    // A pipe holds more than any test writes.
    if let input {
      try source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
      try source.fileHandleForWriting.close()
    }
    return (process, out.fileHandleForReading, err.fileHandleForReading)
  }

  func run(_ words: String...) throws -> Outcome { try run(words) }

  func run(_ words: [String], input: String? = nil) throws -> Outcome {
    let (process, out, err) = try process(words, input: input)
    // A command prints far less to stderr than a pipe holds, so reading one after the other cannot block it.
    let outText = String(decoding: try out.readToEnd() ?? Data(), as: UTF8.self)
    let errText = String(decoding: try err.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return Outcome(code: process.terminationStatus, out: outText, err: errText)
  }
}
