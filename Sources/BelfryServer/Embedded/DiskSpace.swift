import Glibc

/// The space that is left on the disk of a folder.
struct DiskSpace: Sendable {
  let folder: String
  /// The bytes that may still be written in a folder; nil if nobody knows. A test says it itself.
  let freeBytes: @Sendable (_ folder: String) -> Int?

  init(
    of folder: String, freeBytes: @escaping @Sendable (_ folder: String) -> Int? = DiskSpace.freeBytes
  ) {
    self.folder = folder
    self.freeBytes = freeBytes
  }

  /// The free bytes while the disk counts as full; nil while there is room, or if nobody knows.
  var freeBytesWhileFull: Int? { freeBytes(folder).flatMap { Self.isFull(freeBytes: $0) ? $0 : nil } }

  /// With less, a disk counts as full: Redis writes many bytes at once, so it fails before the last byte is used.
  static let fullBelowBytes = 8 << 20

  static func isFull(freeBytes: Int) -> Bool { freeBytes < fullBelowBytes }

  /// The bytes that a process without privileges may still write; nil if the system does not say.
  static func freeBytes(in folder: String) -> Int? {
    var status = statvfs()
    guard unsafe statvfs(folder, &status) == 0 else { return nil }
    let (bytes, isTooLarge) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isTooLarge ? .max : Int(clamping: bytes)
  }
}
