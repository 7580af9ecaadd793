import BelfrySystem
import CLinux
import Glibc
import Synchronization

/// Keeps a redis-server running: starts it, waits until it answers, starts it again when it ends, and stops
/// it when told to. All of this happens in `run()`, on its own thread; the end of that thread also ends the
/// redis-server.
final class RedisSupervisor: Sendable {
  private let launch: RedisLaunch
  private let disk: DiskSpace
  private let report: @Sendable (EmbeddedRedis.Event) -> Void
  private let stopRequest: EventDescriptor
  private let firstStart: EventDescriptor
  private let firstFailure = Mutex<StartError?>(nil)

  /// The time from the start to the first answer, which may be that Redis is loading. Redis listens within
  /// milliseconds.
  static let answerTimeout: Duration = .seconds(30)
  /// The time for one probe, which is repeated until `answerTimeout`. A request to stop waits no longer than
  /// this.
  static let probeTimeout: Duration = .seconds(2)
  /// The major version with functions and sharded subscriptions.
  static let versionMin = 7

  init(
    _ launch: RedisLaunch, disk: DiskSpace, report: @escaping @Sendable (EmbeddedRedis.Event) -> Void
  ) throws(StartError) {
    self.launch = launch
    self.disk = disk
    self.report = report
    stopRequest = try StartError.system(EventDescriptor.init)
    firstStart = try StartError.system(EventDescriptor.init)
  }

  // MARK: From any thread

  func waitForFirstStart() throws(StartError) {
    firstStart.wait()
    if let error = firstFailure.withLock({ $0 }) { throw error }
  }

  func requestStop() {
    stopRequest.set()
  }

  // MARK: The supervisor's thread

  func run() {
    var backoff = RestartBackoff()
    while true {
      do throws(StartError) {
        let process = try startOne()
        backoff.started(at: .now)
        firstStart.set()
        guard keep(process) == .ended else { return }
        report(.ended(process.reap()))
        reportFullDisk()
      } catch {
        guard firstStart.isSet else {
          reportFullDisk()
          firstFailure.withLock { $0 = error }
          return firstStart.set()
        }
        if stopRequest.isSet { return }
        report(.restartFailed(error))
        reportFullDisk()
      }
      guard waitForRestart(&backoff) else { return }
    }
  }

  /// With `appendfsync always` a redis-server starts on a full disk, and ends at its first write. Restarts of seconds would
  /// then fill the log. So the next one waits for room, or for a minute.
  /// - Returns: false if the redis-server is to stop.
  private func waitForRestart(_ backoff: inout RestartBackoff) -> Bool {
    let isDiskFull = disk.freeBytesWhileFull != nil
    let delay = backoff.delay(at: .now)
    report(.restarting(after: isDiskFull ? RestartBackoff.fullDiskPause : delay))
    guard isDiskFull else { return !stopRequest.wait(until: .now + delay) }
    let deadline = ContinuousClock.now + RestartBackoff.fullDiskPause
    repeat {
      if stopRequest.wait(until: .now + RestartBackoff.roomInterval) { return false }
    } while .now < deadline && disk.freeBytesWhileFull != nil
    return true
  }

  /// With `appendfsync always`, Redis ends itself when it cannot write. Its last words are in its own log only.
  private func reportFullDisk() {
    guard let free = disk.freeBytesWhileFull else { return }
    report(.diskFull(folder: disk.folder, freeBytes: free))
  }

  /// Starts a redis-server and waits until it answers. If it does not answer, it is killed.
  private func startOne() throws(StartError) -> RunningProcess {
    let process = try launch.spawn()
    // Reported before Redis listens. The loops may connect before the probe has its answer, and their connections would be
    // reported before the start.
    report(.started(processID: process.processID))
    do {
      report(.answers(version: try waitUntilReady(process)))
      return process
    } catch {
      end(process)
      throw error
    }
  }

  /// - Returns: the version of Redis.
  private func waitUntilReady(_ process: RunningProcess) throws(StartError) -> String {
    var deadline = ContinuousClock.now + RedisSupervisor.answerTimeout
    var isLoading = false
    while .now < deadline {
      switch RedisProbe.ask(launch.socketPath, until: min(deadline, .now + RedisSupervisor.probeTimeout)) {
      case .ready(process.processID, let version): return try supported(version)
      case .loading:
        // Reading the data may take any time.
        deadline = .now + RedisSupervisor.answerTimeout
        if !isLoading { report(.loading) }
        isLoading = true
      case .ready, .none: break
      }
      // Redis listens some milliseconds after its start, and loading takes longer than asking.
      let pause: Duration = isLoading ? .milliseconds(50) : .milliseconds(5)
      let events = Poll.readable([process.descriptor, stopRequest.descriptor], until: .now + pause)
      if events.contains(process.descriptor) { throw failed("it ended at once") }
      if !events.isEmpty { throw failed("it was stopped while it was starting") }
    }
    throw failed("it does not answer on \(launch.socketPath)")
  }

  private func supported(_ version: String) throws(StartError) -> String {
    guard let major = Int(version.prefix { $0 != "." }), major >= RedisSupervisor.versionMin else {
      throw failed("Belfry needs Redis \(RedisSupervisor.versionMin).0 or later, and this is \(version)")
    }
    return version
  }

  private func failed(_ cause: String) -> StartError {
    let log = launch.endOfLog()
    let detail = log.isEmpty ? "" : "; the end of \(launch.logPath):\n\(log)"
    return StartError(.redisUnusable, cause + detail, at: "redis-server")
  }

  private enum Watching {
    case ended, stopped
  }

  private func keep(_ process: RunningProcess) -> Watching {
    while true {
      let events = Poll.readable(
        [process.descriptor, stopRequest.descriptor], until: .now + .seconds(86_400))
      if events.contains(stopRequest.descriptor) {
        end(process)
        return .stopped
      }
      if events.contains(process.descriptor) { return .ended }
    }
  }

  /// Sends SIGTERM, upon which Redis writes the append-only file to the disk and removes its socket.
  private func end(_ process: RunningProcess) {
    process.signal(SIGTERM)
    if !process.waitForEnd(for: launch.stopTimeout) {
      process.signal(SIGKILL)
      report(.killed)
    }
    _ = process.reap()
  }
}

/// The delay before a redis-server that ended is started again. The first start follows at once. The delay
/// grows each time that a redis-server did not last, so that one that cannot run does not fill the log.
struct RestartBackoff {
  static let delays = Backoff(.milliseconds(50), atMost: .seconds(5), jitter: .none)
  /// The time after which a redis-server counts as stable: if it ends later, that counts as the first end.
  static let soundAfter: Duration = .seconds(30)
  /// The delay while the disk is full.
  static let fullDiskPause: Duration = .seconds(60)
  /// The interval at which a full disk is looked at. As soon as it has room, the redis-server is started.
  static let roomInterval: Duration = .seconds(1)

  private var failures = 0
  private var startedAt: ContinuousClock.Instant?

  mutating func started(at now: ContinuousClock.Instant) {
    startedAt = now
  }

  mutating func delay(at now: ContinuousClock.Instant) -> Duration {
    if let startedAt, startedAt.duration(to: now) >= RestartBackoff.soundAfter { failures = 0 }
    startedAt = nil
    defer { failures += 1 }
    return failures == 0 ? .zero : Self.delays.delay(doublings: failures, random: 0)
  }
}
