import BelfrySystem
import Synchronization

/// A private redis-server in the data folder. It is started before the broker, kept running, and stopped
/// after the broker.
///
/// `RedisSupervisor` watches it on its own thread, so that it depends on no event loop and outlives them.
package final class EmbeddedRedis: Sendable {
  /// The events of the redis-server, for the broker's log.
  package enum Event: Sendable, Hashable {
    /// A redis-server that an earlier broker left behind was stopped.
    case stoppedOrphan(processID: Int32)
    /// The process runs. It has not answered yet.
    case started(processID: Int32)
    case answers(version: String)
    /// It is reading its data, and answers when that is done.
    case loading
    /// It ended without being told to.
    case ended(String)
    case restarting(after: Duration)
    case restartFailed(StartError)
    /// It has ended or does not start, and its disk has no space left, or nearly none.
    case diskFull(folder: String, freeBytes: Int)
    /// It did not end in time when told to, and was killed. The data that it had not handed to the kernel is
    /// lost.
    case killed
  }

  private let folder: DataFolder
  private let settings: EmbeddedRedisSettings
  private let arguments: [String]
  private let isScratch: Bool
  private let report: @Sendable (Event) -> Void
  private let running = Mutex<Running?>(nil)
  private let disk: DiskSpace
  /// True if the redis-server has ended, or did not start, while its disk was full.
  private let hasEndedOnFullDisk = Atomic(false)
  private let knownFreeDiskBytes = Mutex<Int?>(nil)

  private struct Running {
    let supervisor: RedisSupervisor
    let thread: SystemThread
  }

  /// The URL to connect to, for `BelfryRedis`.
  package let endpointURL: String

  /// - Parameters:
  ///   - arguments: given to redis-server after all others, which they override.
  ///   - isScratch: true if nobody needs its data when this process ends before ``stop()``. Then the kernel
  ///     kills it, and it does not write its data first.
  ///   - freeDiskBytes: the bytes that may still be written in a folder; nil if nobody knows. Called on any thread.
  ///   - report: called on the supervisor's thread.
  package init(
    in folder: DataFolder, settings: EmbeddedRedisSettings, arguments: [String] = [], isScratch: Bool = false,
    freeDiskBytes: @escaping @Sendable (_ folder: String) -> Int? = { DiskSpace.freeBytes(in: $0) },
    report: @escaping @Sendable (Event) -> Void = { _ in }
  ) throws(StartError) {
    self.folder = folder
    self.settings = settings
    self.arguments = arguments
    self.isScratch = isScratch
    self.report = report
    disk = DiskSpace(of: RedisLaunch.redisFolder(in: folder.path), freeBytes: freeDiskBytes)
    endpointURL = "unix://" + (try RedisSocketPath.choose(for: folder.path))
  }

  /// Returns when the redis-server has loaded its data and answers. It blocks, so it is called before the
  /// event loops run.
  /// - Throws: if the redis-server cannot be started; nothing is left running then.
  package func start() throws(StartError) {
    try MisplacedData.check(folder.path)
    let launch = try RedisLaunch(
      folder: folder.path, socketPath: String(endpointURL.dropFirst("unix://".count)), settings: settings,
      arguments: arguments, isScratch: isScratch)
    if let processID = try launch.stopOrphan() { report(.stoppedOrphan(processID: processID)) }
    let supervisor = try RedisSupervisor(launch, disk: disk) { [self] event in
      note(event)
      report(event)
    }
    let thread = try StartError.system { () throws(SystemError) in
      try SystemThread("embedded-redis") { supervisor.run() }
    }
    do {
      try supervisor.waitForFirstStart()
    } catch {
      thread.join()
      throw error
    }
    running.withLock { $0 = Running(supervisor: supervisor, thread: thread) }
    lookAtDisk()
  }

  /// True from an end of the redis-server on a full disk until a look at the disk finds room. A start between does not
  /// count, since a redis-server may start on a full disk and end again with its first write. May be asked from any thread.
  package var isDiskFull: Bool { hasEndedOnFullDisk.load(ordering: .relaxed) }

  /// The bytes that were free on the disk of its folder at the last look; nil if nobody knows. May be asked from any thread.
  package var freeDiskBytes: Int? { knownFreeDiskBytes.withLock { $0 } }

  /// Looks how much room the disk has. A disk that hangs keeps its thread waiting, so no event loop may call it.
  package func lookAtDisk() {
    // An end that comes during the look may be about less room than the look finds.
    let hadEnded = isDiskFull
    let free = disk.freeBytes(disk.folder)
    knownFreeDiskBytes.withLock { $0 = free }
    if hadEnded, free.map({ DiskSpace.isFull(freeBytes: $0) }) != true {
      hasEndedOnFullDisk.store(false, ordering: .relaxed)
    }
  }

  private func note(_ event: Event) {
    if case .diskFull = event { hasEndedOnFullDisk.store(true, ordering: .relaxed) }
  }

  /// Returns when the redis-server has ended and everything that it acknowledged is on the disk. Does nothing
  /// if it is not running.
  package func stop() {
    let taken = running.withLock { running in
      defer { running = nil }
      return running
    }
    guard let taken else { return }
    taken.supervisor.requestStop()
    taken.thread.join()
  }
}
