import Glibc

/// The space that is left on the disk of a folder.
enum DiskSpace {
  /// With less, a disk counts as full: Redis writes many bytes at once, so it fails before the last byte is used.
  static let fullBelowBytes = 8 << 20

  static func isFull(freeBytes: Int, belowBytes limit: Int = fullBelowBytes) -> Bool { freeBytes < limit }

  /// The bytes that a process without privileges may still write; nil if the system does not say.
  static func freeBytes(in folder: String) -> Int? {
    var status = statvfs()
    guard unsafe statvfs(folder, &status) == 0 else { return nil }
    let (bytes, isTooLarge) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isTooLarge ? .max : Int(clamping: bytes)
  }
}
