import Foundation

/// Speaks to a redis-server as an operator would.
struct RedisCLI {
  let socketPath: String

  init(url: String) {
    socketPath = String(url.dropFirst("unix://".count))
  }

  /// The reply's text; or the error of redis-cli if it cannot connect.
  func callAsFunction(_ arguments: String...) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["redis-cli", "-s", socketPath] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  func information(_ field: String) throws -> String? {
    let lines = try self("INFO").split(whereSeparator: \.isNewline)
    return lines.first { $0.hasPrefix("\(field):") }.map { String($0.dropFirst(field.count + 1)) }
  }
}
