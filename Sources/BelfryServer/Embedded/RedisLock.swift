import BelfrySystem
import CLinux
import Glibc

/// The lock of a `redis/` folder. Each redis-server on the folder inherits a descriptor of the lock file, and
/// the file stays locked (`flock`) until that descriptor is closed. So the lock shows if one still runs, even
/// if its broker was killed or ran in another container. The file holds the process id.
final class RedisLock: Sendable {
  let descriptor: Int32
  private let path: String

  init(in redisFolder: String) throws(StartError) {
    path = redisFolder + "/lock"
    descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .refused(.dataFolderUnusable, "cannot open the lock", at: path) }
  }

  deinit {
    close(descriptor)
  }

  /// Ends the redis-server that holds the lock, and takes the lock. The owner of the data folder calls this,
  /// so that redis-server serves no broker.
  /// - Parameters:
  ///   - timeout: the time that it may take to write its data. Afterwards it is killed.
  ///   - isScratch: true if it is killed at once.
  /// - Returns: the process that was ended; nil if there was none.
  func stopHolder(within timeout: Duration, isScratch: Bool) throws(StartError) -> pid_t? {
    if take() { return nil }
    let orphan = ProcessIDFile.read(descriptor).flatMap(holder)
    if let orphan {
      orphan.signal(isScratch ? SIGKILL : SIGTERM)
      if !orphan.waitForEnd(for: timeout) {
        orphan.signal(SIGKILL)
        _ = orphan.waitForEnd(for: timeout)
      }
    }
    // A child of Redis that rewrites the append-only file holds the lock too, and ends after its parent.
    guard Poll.until(.now + timeout, take) else {
      throw StartError(
        .redisUnusable,
        "a redis-server of an earlier broker still uses this folder: stop it, then start the broker again",
        at: path)
    }
    return orphan?.processID
  }

  private func take() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

  /// The process, if it holds this lock. The number may belong to another process now.
  private func holder(_ processID: pid_t) -> RunningProcess? {
    guard let process = RunningProcess(processID) else { return nil }
    var held = stat()
    var own = stat()
    guard unsafe stat("/proc/\(processID)/fd/\(linux_kept_descriptor)", &held) == 0,
      unsafe fstat(descriptor, &own) == 0, held.st_dev == own.st_dev, held.st_ino == own.st_ino
    else { return nil }
    return process
  }
}
