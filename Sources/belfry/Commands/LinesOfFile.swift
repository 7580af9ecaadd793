import Foundation

/// The lines of a file that are not empty.
enum LinesOfFile {
  /// - Parameter path: `-` for standard input.
  /// - Returns: each with its place, such as `members, line 3`.
  static func read(_ path: String) throws(CommandFailure) -> [(text: String, place: String)] {
    do {
      let file = try path == "-" ? .standardInput : FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      let name = path == "-" ? "standard input" : path
      return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
        .map { ($1.trimmingCharacters(in: .whitespaces), "\(name), line \($0 + 1)") }.filter { !$0.0.isEmpty }
    } catch {
      throw CommandFailure(
        code: "unreadable", detail: "\(path) cannot be read: \(error.localizedDescription)")
    }
  }
}
