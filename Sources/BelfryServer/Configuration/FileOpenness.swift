import Glibc

/// The access that users other than the owner may have to a trusted file.
enum FileOpenness: Sendable {
  case any
  /// They may read it: Docker mounts secrets with mode 0444. A user who could write it could replace the key
  /// with their own.
  case readable
  /// They may do nothing.
  case closed

  /// The bits of the mode that must not be set.
  fileprivate var forbidden: mode_t {
    switch self {
    case .any: 0
    case .readable: 0o022
    case .closed: 0o077
    }
  }

  func check(_ descriptor: Int32, at path: String) throws(StartError) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw .refused(.unreadableFile, "cannot read it", at: path)
    }
    guard status.st_mode & forbidden != 0 else { return }
    let mode = "0" + String(status.st_mode & 0o777, radix: 8)
    switch self {
    case .any: return
    case .readable:
      throw StartError(
        .secretUnusable,
        "users other than its owner can write to it (mode \(mode)), so they could add keys: run chmod go-w \(path)",
        at: path)
    case .closed:
      throw StartError(
        .secretUnusable,
        "users other than its owner can read it (mode \(mode)), and could have minted tokens with it. If nobody has read it, "
          + "run chmod 600 \(path). Otherwise delete it: a broker without a secret makes a new one when it starts",
        at: path)
    }
  }
}
