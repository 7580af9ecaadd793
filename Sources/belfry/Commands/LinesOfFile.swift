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
      throw CommandFailure(code: "unreadable", detail: "\(path) cannot be read: \(cause(of: error, path))")
    }
  }

  /// Foundation would say that the operation could not be completed.
  private static func cause(of error: any Error, _ path: String) -> String {
    let files = FileManager.default
    guard files.fileExists(atPath: path) else { return "there is no such file" }
    guard files.isReadableFile(atPath: path) else { return "you do not have permission" }
    let type = try? files.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    return type == .typeDirectory ? "it is a folder" : error.localizedDescription
  }
}
