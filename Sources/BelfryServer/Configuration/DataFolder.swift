import Foundation
import Glibc

/// The folder of one broker, with its secret and its embedded Redis. It is locked for this process while this
/// object lives.
///
/// The lock is the kernel's (`flock`), so a broker that was killed leaves no lock behind. The locked file
/// holds the process id of its holder, for people to read.
package final class DataFolder: Sendable {
  /// Absolute, so that it does not depend on the working directory.
  package let path: String
  private let lock: Int32

  /// Makes the folder if there is none, and locks it.
  package init(opening path: String) throws(StartError) {
    self.path = try DataFolder.prepare(path)
    lock = try DataFolder.take(self.path)
  }

  deinit {
    close(lock)
  }

  private static func prepare(_ path: String) throws(StartError) -> String {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      // Foundation's sentence repeats the path, and leaves the cause out.
      errno = ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue ?? EINVAL
      throw .refused(.dataFolderUnusable, "cannot make the folder", at: path)
    }
    guard let resolved = unsafe realpath(path, nil) else {
      throw .refused(.dataFolderUnusable, "cannot enter the folder", at: path)
    }
    defer { unsafe free(resolved) }
    let absolute = unsafe String(cString: resolved)
    var status = stat()
    guard unsafe stat(absolute, &status) == 0 else {
      throw .refused(.dataFolderUnusable, "cannot enter the folder", at: path)
    }
    try Folder.checkOwner(absolute)
    // A user who could write to the folder could replace the secret with their own. Others may read the
    // folder, as is usual in mounted volumes: the secrets in it have their own permissions.
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw StartError(
        .dataFolderUnusable,
        "users other than its owner can write to the folder, so they could replace the secret in it: run chmod go-w \(absolute), "
          + "or name a new folder inside it",
        at: absolute)
    }
    return absolute
  }

  private static func take(_ folder: String) throws(StartError) -> Int32 {
    let path = folder + "/lock"
    // Closed on exec. Otherwise a redis-server that outlives the broker would keep the folder locked.
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .refused(.dataFolderUnusable, "cannot open the lock", at: path) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let error =
        errno == EWOULDBLOCK
        ? StartError(
          .dataFolderInUse,
          "\(holder(of: descriptor)) already runs on this data folder: stop it, or name another folder with --data",
          at: folder)
        : .refused(.dataFolderUnusable, "cannot lock the folder", at: path)
      close(descriptor)
      throw error
    }
    ProcessIDFile.write(descriptor, getpid())
    return descriptor
  }

  private static func holder(of lock: Int32) -> String {
    guard let pid = ProcessIDFile.read(lock) else { return "a broker" }
    return "the broker with process id \(pid)"
  }
}

/// A file whose only content is a process id, in digits.
enum ProcessIDFile {
  static func write(_ descriptor: Int32, _ pid: pid_t) {
    let text = Array("\(pid)\n".utf8)
    // The id is only for people and for finding an orphan faster, so a full disk is no reason to fail.
    _ = ftruncate(descriptor, 0)
    _ = unsafe pwrite(descriptor, text, text.count, 0)
  }

  static func read(_ descriptor: Int32) -> pid_t? {
    var buffer = [UInt8](repeating: 0, count: 32)
    let count = unsafe pread(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return nil }
    return pid_t(String(decoding: buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
  }
}
