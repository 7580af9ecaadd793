import Glibc

/// Reads and writes small files as a whole.
enum SmallFile {
  /// - Parameter openness: the access that other users may have. A file that is more open is refused.
  static func read(
    _ path: String, sizeMaxBytes: Int, openness: FileOpenness = .any
  ) throws(StartError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .refused(.unreadableFile, "cannot read it", at: path) }
    defer { close(descriptor) }
    try openness.check(descriptor, at: path)
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      guard count >= 0 else { throw .refused(.unreadableFile, "cannot read it", at: path) }
      if count == 0 { return content }
      content += buffer[..<count]
      guard content.count <= sizeMaxBytes else {
        throw StartError(.unreadableFile, "it is larger than \(sizeMaxBytes) bytes", at: path)
      }
    }
  }

  /// Writes a draft and renames it. So readers find either all of the new content or the previous one, even
  /// after a crash.
  /// - Parameter code: the code of the error if it fails.
  static func replace(
    _ path: String, with content: [UInt8], mode: mode_t, orThrow code: StartError.Code
  ) throws(StartError) {
    let draft = path + ".new"
    // A draft that a crash left behind may have other permissions.
    unsafe unlink(draft)
    let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw .refused(code, "cannot write it", at: path) }
    defer { close(descriptor) }
    var isReplaced = false
    defer { if !isReplaced { unsafe unlink(draft) } }
    var written = 0
    while written < content.count {
      let count = unsafe content[written...].withUnsafeBytes {
        unsafe write(descriptor, $0.baseAddress, $0.count)
      }
      guard count > 0 else { throw .refused(code, "cannot write it", at: path) }
      written += count
    }
    guard fsync(descriptor) == 0, unsafe rename(draft, path) == 0 else {
      throw .refused(code, "cannot write it", at: path)
    }
    isReplaced = true
  }
}
