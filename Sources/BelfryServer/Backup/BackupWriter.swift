import Glibc

/// Writes a backup as a draft, and renames it when it is complete. A draft that a killed command left behind is
/// overwritten by the next backup to the same file.
final class BackupWriter {
  let path: String
  let draft: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var crc = CRC64()
  private(set) var bytesWritten = 0
  /// True if the draft was renamed, or if it is not for this writer to remove.
  private var isKept = false

  private static let bufferBytes = 256 << 10

  init(_ path: String) throws(BackupError) {
    self.path = path
    draft = path + ".new"
    try Self.checkIsFree(path)
    descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      isKept = true
      throw .refused("cannot write it", at: path)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      isKept = true
      throw BackupError(
        .fileUnusable, "another backup is being written there: wait until it ends, or name another file",
        at: draft)
    }
    do throws(BackupError) {
      // The other backup may have ended since, and this may be its file.
      try Self.checkIsFree(path)
    } catch {
      isKept = true
      throw error
    }
    guard ftruncate(descriptor, 0) == 0, fchmod(descriptor, 0o600) == 0 else {
      throw .refused("cannot write it", at: path)
    }
  }

  deinit {
    if !isKept { unsafe unlink(draft) }
    close(descriptor)
  }

  static func checkIsFree(_ path: String) throws(BackupError) {
    guard unsafe access(path, F_OK) != 0 else {
      throw BackupError(
        .fileExists, "the file exists, and existing files are not overwritten: name another file", at: path)
    }
  }

  // MARK: Parts of an RDB

  /// - Parameter version: the four digits of the RDB that the values are copied from.
  func begin(version: String) throws(BackupError) {
    try write(Array("REDIS\(version)".utf8)[...])
  }

  func note(_ name: String, _ value: String) throws(BackupError) {
    try write([250])
    try string(Array(name.utf8))
    try string(Array(value.utf8))
  }

  func selectDatabase() throws(BackupError) {
    try write([254, 0])
  }

  /// Writes a key; its value follows, by `write`.
  func begin(_ key: RDBReader.Key) throws(BackupError) {
    if let time = key.expiresAt {
      try write([252])
      try fixed(UInt64(bitPattern: time))
    }
    try write([key.type])
    try string(key.name)
  }

  func write(_ bytes: ArraySlice<UInt8>) throws(BackupError) {
    crc.update(bytes)
    buffer += bytes
    if buffer.count >= Self.bufferBytes { try flush() }
  }

  /// Ends the file and writes it through to the disk. It still has the draft's name.
  func end() throws(BackupError) {
    try write([255])
    try fixed(crc.value)
    try flush()
    guard fsync(descriptor) == 0 else { throw .refused("cannot write it", at: path) }
  }

  /// Renames the draft.
  func keep() throws(BackupError) {
    try Self.checkIsFree(path)
    guard unsafe rename(draft, path) == 0 else { throw .refused("cannot write it", at: path) }
    isKept = true
    try Folder.synchronize(Folder.parent(of: path))
  }

  private func string(_ bytes: [UInt8]) throws(BackupError) {
    // Always the form for long lengths: four bytes, the most significant first.
    let count = UInt32(clamping: bytes.count).bigEndian
    try write([0x80] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) })
    try write(bytes[...])
  }

  private func fixed(_ number: UInt64) throws(BackupError) {
    try write(((0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })[...])
  }

  private func flush() throws(BackupError) {
    var written = 0
    while written < buffer.count {
      let count = unsafe buffer[written...].withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      guard count > 0 else { throw .refused("cannot write it", at: path) }
      written += count
    }
    bytesWritten += written
    buffer.removeAll(keepingCapacity: true)
  }
}
