import Foundation
import Glibc

/// Operations on folders that backups and commands share.
enum Folder {
  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// The same, but a folder that this user may not enter is an error and not one that is not there.
  static func isThere(_ path: String) throws(BackupError) -> Bool {
    if exists(path) { return true }
    guard errno != EACCES else {
      throw .refused("permission denied: run it as the broker's user (sudo -u)", at: path)
    }
    return false
  }

  /// The absolute path, without links.
  static func resolve(_ path: String) throws(BackupError) -> String {
    guard let resolved = unsafe realpath(path, nil) else {
      throw .refused("cannot enter the folder", at: path)
    }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// Refuses a folder that belongs to another user: the broker, which runs as that user, could not read what is written
  /// there, mostly by root.
  static func checkOwner(_ path: String) throws(StartError) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      throw .refused(.dataFolderUnusable, "cannot read who owns it", at: path)
    }
    guard status.st_uid == geteuid() else {
      throw StartError(
        .dataFolderUnusable,
        "it belongs to the user with id \(status.st_uid), and this command runs as the user with id \(geteuid()): "
          + "run it as the broker's user (sudo -u)",
        at: path)
    }
  }

  static func names(in path: String) throws(BackupError) -> Set<String> {
    do {
      return Set(try FileManager.default.contentsOfDirectory(atPath: path))
    } catch {
      throw BackupError(.fileUnusable, "cannot read the folder: \(error.localizedDescription)", at: path)
    }
  }

  /// Removes the folder with all that is in it, if it is there.
  static func remove(_ path: String) {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Writes the folder's entries through to the disk.
  static func synchronize(_ path: String) throws(BackupError) {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .refused("cannot open the folder", at: path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .refused("cannot write the folder", at: path) }
  }
}
