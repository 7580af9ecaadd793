import Foundation

/// A folder for one test. It is always under /tmp, never under TMPDIR, so that the path of a unix socket
/// fits.
struct TemporaryFolder {
  let path: String

  static func with<R>(_ body: (TemporaryFolder) async throws -> R) async throws -> R {
    let folder = TemporaryFolder(path: "/tmp/belfry-test-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    return try await body(folder)
  }

  func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
    let file = "\(path)/\(name)"
    try Data(text.utf8).write(to: URL(filePath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    return file
  }

  func mode(of name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }
}

/// The project's own files, which some tests compare with the code.
enum ProjectFile {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static func read(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  static func write(_ path: String, _ text: String) throws {
    try text.write(to: root.appending(path: path), atomically: true, encoding: .utf8)
  }
}
