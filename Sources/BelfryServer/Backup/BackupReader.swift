import BelfryStore
import Glibc

/// Reads a backup once from its beginning to its end, and checks that it is one.
final class BackupReader {
  private let path: String
  private let reader: RDBReader
  /// True once a note has said that the file is a backup. The notes come before the first key.
  private var isBackup = false
  private var countsNoted: String?
  /// The content that has been read so far.
  private(set) var contents = BackupFile.Contents()

  init(_ path: String) throws(BackupError) {
    self.path = path
    let source = try FileSource(path)
    reader = RDBReader(path, needsChecksum: true, from: source.next)
    try reader.readHeader()
  }

  var bytesRead: Int { reader.bytesRead }
  /// The version of the RDB.
  var version: UInt16 { UInt16(reader.version) ?? 0 }

  /// The next key. Its value must be read before the key after it. Nil at the end, when the file was found
  /// right.
  func nextKey() throws(BackupError) -> RDBReader.Key? {
    while true {
      switch try reader.next() {
      case .note(let name, let value): try take(name, value)
      case .size: break
      case .key(let key):
        guard isBackup else { throw isForeign }
        return key
      case .end:
        contents.byteCount = reader.bytesRead
        guard isBackup else { throw isForeign }
        let texts = [BackupFile.text(contents.counts), BackupFile.textOfEarlierBuilds(contents.counts)]
        guard let countsNoted, texts.contains(countsNoted) else {
          throw BackupError(.damaged, "it holds less than its header says: use another copy", at: path)
        }
        return nil
      }
    }
  }

  func readValue(of key: RDBReader.Key, copyingTo sink: RDBReader.Sink? = nil) throws(BackupError) {
    let entries = try reader.readValue(of: key, copyingTo: sink)
    guard let parts = KeyspaceKey(String(decoding: key.name, as: UTF8.self)) else {
      throw BackupError(.notABackup, "it has keys that are not Belfry's", at: path)
    }
    contents.counts.add(parts, entries: entries)
  }

  /// The value as Redis's `RESTORE` takes it: its type, its bytes, the version, and a checksum.
  func dump(of key: RDBReader.Key) throws(BackupError) -> [UInt8] {
    var dump = [key.type]
    try readValue(of: key) { dump += $0 }
    dump += [UInt8(truncatingIfNeeded: version), UInt8(truncatingIfNeeded: version >> 8)]
    var crc = CRC64()
    crc.update(dump[...])
    return dump + (0..<8).map { UInt8(truncatingIfNeeded: crc.value >> (8 * $0)) }
  }

  private var isForeign: BackupError {
    BackupError(
      .notABackup, "it is a snapshot of a Redis, but not one that belfry backup made", at: path,
      advice: "start a redis-server with it, and back that up with --redis URL")
  }

  private func take(_ name: String, _ value: String) throws(BackupError) {
    switch name {
    case BackupFile.Note.format:
      guard value == BackupFile.formatVersion else {
        throw BackupError(
          .notABackup, "a later release of Belfry made it (format \(value)): restore it with that release",
          at: path)
      }
      isBackup = true
    case BackupFile.Note.counts: countsNoted = value
    case BackupFile.Note.moment: contents.momentSeconds = Int64(value)
    default: break
    }
  }
}

/// The bytes of a file, in pieces.
final class FileSource {
  private let path: String
  private let descriptor: Int32

  private static let pieceBytes = 256 << 10

  init(_ path: String) throws(BackupError) {
    self.path = path
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .refused("cannot read it", at: path) }
  }

  deinit {
    close(descriptor)
  }

  func next() throws(BackupError) -> [UInt8]? {
    var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
    let count = unsafe read(descriptor, &piece, piece.count)
    guard count >= 0 else { throw .refused("cannot read it", at: path) }
    return count == 0 ? nil : Array(piece[..<count])
  }
}
