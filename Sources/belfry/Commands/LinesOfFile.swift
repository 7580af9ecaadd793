import Foundation

/// The lines of a file that are not empty.
enum LinesOfFile {
  /// - Parameter path: `-` for standard input.
  static func read(_ path: String) throws(CommandFailure) -> [String] {
    do {
      let file = try path == "-" ? .standardInput : FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      return text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        .filter { !$0.isEmpty }
    } catch {
      throw CommandFailure(
        code: "unreadable", detail: "\(path) cannot be read: \(error.localizedDescription)")
    }
  }
}
