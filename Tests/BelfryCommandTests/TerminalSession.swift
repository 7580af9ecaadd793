import Foundation
import Glibc
import Testing

/// The built `belfry` on a terminal, as a person has it.
struct TerminalSession {
  private let screen: FileHandle
  private let process: Process

  // ioctl_tty(2). The macros are of a form that Swift does not import.
  private static let setLock: UInt = 0x4004_5431
  private static let number: UInt = 0x8004_5430

  struct Screen {
    var code: Int32
    /// All that was written to the terminal, by the program and by the echo of what was typed.
    var text: String
    var lines: [String] { text.split(separator: "\r\n").map(String.init) }
  }

  /// - Parameter typed: the text that is typed in advance.
  static func run(
    _ words: [String], columns: UInt16 = 80, environment: [String: String] = [:], typed: String = ""
  ) throws -> Screen {
    let session = try TerminalSession(words, columns: columns, environment: environment)
    if !typed.isEmpty { try session.screen.write(contentsOf: Data(typed.utf8)) }
    return try session.end()
  }

  private init(_ words: [String], columns: UInt16, environment: [String: String]) throws {
    let master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var (locked, number): (Int32, Int32) = (0, 0)
    try #require(unsafe master >= 0 && ioctl(master, Self.setLock, &locked) == 0)
    try #require(unsafe ioctl(master, Self.number, &number) == 0)
    let name = "/dev/pts/\(number)"
    let slave = unsafe open(name, O_RDWR | O_NOCTTY)
    try #require(slave >= 0)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    try #require(unsafe ioctl(slave, UInt(TIOCSWINSZ), &size) == 0)
    screen = FileHandle(fileDescriptor: master, closeOnDealloc: true)
    let terminal = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
    process = Process()
    process.executableURL = try Executable.path()
    process.arguments = words
    process.environment = Executable().environment.merging(["TERM": "xterm"]) { $1 }
      .merging(environment) { $1 }
    process.standardInput = terminal
    process.standardOutput = terminal
    process.standardError = terminal
    try process.run()
    try terminal.close()
  }

  private func end() throws -> Screen {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    // Here the end of the other side is an error (EIO), not an end of file.
    while case let count = unsafe read(screen.fileDescriptor, &buffer, buffer.count), count > 0 {
      bytes += buffer[..<count]
    }
    process.waitUntilExit()
    return Screen(code: process.terminationStatus, text: String(decoding: bytes, as: UTF8.self))
  }
}
