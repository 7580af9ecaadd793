import BelfrySystem
import CLinux
import Foundation
import Synchronization
import Testing

@testable import BelfryServer

@Suite(.timeLimit(.minutes(3))) struct EmbeddedRedisTests {
  @Test func itAnswersOnceStartedAndIsGoneOnceStopped() async throws {
    try await withDataFolder { folder in
      let redis = try EmbeddedRedis(in: folder, settings: EmbeddedRedisSettings())
      try redis.start()
      let cli = RedisCLI(url: redis.endpointURL)
      #expect(try cli("PING") == "PONG")
      let processID = try #require(try cli.information("process_id").flatMap { pid_t($0) })
      redis.stop()
      #expect(kill(processID, 0) == -1 && errno == ESRCH)
      #expect(!FileManager.default.fileExists(atPath: cli.socketPath))
      redis.stop()
    }
  }

  @Test func whatWasWrittenOutlivesAStopAndAStart() async throws {
    try await withDataFolder { folder in
      for round in 1...3 {
        let redis = try EmbeddedRedis(in: folder, settings: EmbeddedRedisSettings())
        try redis.start()
        #expect(try RedisCLI(url: redis.endpointURL)("INCR", "rounds") == "\(round)")
        redis.stop()
      }
    }
  }

  @Test func itComesBackWithItsDataWhenKilled() async throws {
    try await withDataFolder { folder in
      let events = EventLog()
      let redis = try EmbeddedRedis(in: folder, settings: EmbeddedRedisSettings(), report: events.append)
      try redis.start()
      defer { redis.stop() }
      let cli = RedisCLI(url: redis.endpointURL)
      #expect(try cli("SET", "kept", "yes") == "OK")
      for _ in 1...2 {
        let before = try #require(try cli.information("process_id").flatMap { pid_t($0) })
        kill(before, SIGKILL)
        let isBack = Poll.until(.now + .seconds(60)) {
          let now = (try? cli.information("process_id")).flatMap { $0 }
          return now != nil && now != "\(before)"
        }
        #expect(isBack)
        // Told before the loops can connect to it.
        let now = try #require(try cli.information("process_id").flatMap { pid_t($0) })
        #expect(events.all.contains(.started(processID: now)))
        #expect(try cli("GET", "kept") == "yes")
      }
      #expect(events.all.contains(.ended("was ended by signal 9")))
    }
  }

  /// The free bytes of a disk, as a test says.
  private final class FreeBytes: Sendable {
    private let count: Atomic<Int>
    init(_ count: Int) { self.count = Atomic(count) }
    func read(in folder: String) -> Int? { count.load(ordering: .relaxed) }
    func change(to new: Int) { count.store(new, ordering: .relaxed) }
  }

  @Test(arguments: [false, true])
  func anEndWithAFullDiskNamesTheDiskAndARestartWaitsForRoom(isFull: Bool) async throws {
    try await withDataFolder { folder in
      let events = EventLog()
      let freeBytes = FreeBytes(isFull ? DiskSpace.fullBelowBytes - 1 : DiskSpace.fullBelowBytes)
      let redis = try EmbeddedRedis(
        in: folder, settings: EmbeddedRedisSettings(), freeDiskBytes: freeBytes.read, report: events.append)
      try redis.start()
      defer { redis.stop() }
      // A full disk alone is no end.
      #expect(!redis.isDiskFull)
      let processID = try #require(
        try RedisCLI(url: redis.endpointURL).information("process_id").flatMap { pid_t($0) })
      kill(processID, SIGKILL)
      if isFull {
        let isWaiting = Poll.until(.now + .seconds(60)) {
          events.all.last == .restarting(after: RestartBackoff.fullDiskPause)
        }
        #expect(isWaiting && redis.isDiskFull)
        freeBytes.change(to: .max)
        redis.lookAtDisk()
        #expect(!redis.isDiskFull)
      }
      let isBack = Poll.until(.now + .seconds(60)) {
        events.all.count { if case .started = $0 { true } else { false } } == 2
      }
      #expect(isBack && !redis.isDiskFull)
      let reports = events.all.compactMap { event in
        if case .diskFull(let place, _) = event { place } else { nil }
      }
      #expect(reports == (isFull ? [folder.path + "/redis"] : []))
    }
  }

  /// Event loops ask, and a disk that hangs must not hold them up.
  @Test func theDiskIsNotLookedAtWhenSomebodyAsks() async throws {
    try await withDataFolder { folder in
      let freeBytes = FreeBytes(1)
      let redis = try EmbeddedRedis(
        in: folder, settings: EmbeddedRedisSettings(), freeDiskBytes: freeBytes.read)
      #expect(redis.freeDiskBytes == nil)
      redis.lookAtDisk()
      freeBytes.change(to: 2)
      #expect(redis.freeDiskBytes == 1)
      redis.lookAtDisk()
      #expect(redis.freeDiskBytes == 2)
    }
  }

  @Test func theSpaceOfAFolderIsKnown() throws {
    let free = try #require(DiskSpace.freeBytes(in: "/tmp"))
    #expect(free > 0)
    #expect(DiskSpace.freeBytes(in: "/nonexistent") == nil)
    #expect(DiskSpace.isFull(freeBytes: 0))
    #expect(!DiskSpace.isFull(freeBytes: DiskSpace.fullBelowBytes))
  }

  /// If somebody puts a backup next to `redis/` and not into it, the broker would start empty.
  @Test func dataBesideItsFolderKeepItFromStarting() async throws {
    try await withDataFolder { folder in
      let stray = folder.path + "/appendonlydir"
      for isThereToo in [false, true] {
        try FileManager.default.createDirectory(atPath: stray, withIntermediateDirectories: true)
        let redis = try EmbeddedRedis(in: folder, settings: EmbeddedRedisSettings())
        let error = try #require(throws: StartError.self) { try redis.start() }
        #expect(error.code == .dataFolderUnusable)
        #expect(error.place == stray)
        #expect(error.cause.contains(folder.path + "/redis/appendonlydir"))
        #expect(error.cause.contains("both folders have data") == isThereToo)
        try FileManager.default.removeItem(atPath: stray)
        try redis.start()
        redis.stop()
      }
    }
  }

  @Test func itRunsWithOurSettings() async throws {
    try await withDataFolder { folder in
      var settings = EmbeddedRedisSettings()
      settings.appendFsync = .always
      let redis = try EmbeddedRedis(in: folder, settings: settings)
      try redis.start()
      defer { redis.stop() }
      let cli = RedisCLI(url: redis.endpointURL)
      for (name, value) in [
        ("appendonly", "yes"), ("appendfsync", "always"), ("save", ""), ("port", "0"),
        ("set-max-intset-entries", "16384"), ("maxmemory-policy", "noeviction"),
        ("unixsocketperm", "700"), ("dir", folder.path + "/redis"),
        ("maxmemory", String(MachineMemory.totalBytes / 2)),
      ] {
        #expect(try cli("CONFIG", "GET", name) == (value.isEmpty ? name : "\(name)\n\(value)"))
      }
    }
  }

  /// A disk that is full lets nobody write, and the broker must start on it.
  @Test func aStartWritesTheSettingsOnlyIfTheyHaveChanged() async throws {
    try await TemporaryFolder.with { parent in
      let folder = try DataFolder(opening: "\(parent.path)/data")
      let path = "\(parent.path)/data/redis/redis.conf"
      func inode() throws -> UInt64? {
        try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64
      }
      func runOnce() throws {
        let redis = try EmbeddedRedis(in: folder, settings: EmbeddedRedisSettings())
        try redis.start()
        redis.stop()
      }
      try runOnce()
      let first = try #require(try inode())
      try runOnce()
      #expect(try inode() == first)
      try "port 7\n".write(toFile: path, atomically: true, encoding: .utf8)
      try runOnce()
      #expect(Array(try Data(contentsOf: URL(fileURLWithPath: path))) == RedisDefaults.configuration)
    }
  }

  @Test func aFileThatCannotBeReplacedLeavesNoDraft() async throws {
    try await TemporaryFolder.with { parent in
      let path = "\(parent.path)/taken"
      // A folder of this name keeps the draft from being renamed.
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      #expect(throws: StartError.self) {
        try SmallFile.replace(path, with: [1], mode: 0o600, orThrow: .dataFolderUnusable)
      }
      #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    }
  }

  @Test func settingsOfOnesOwnReplaceOurs() async throws {
    try await TemporaryFolder.with { parent in
      let folder = try DataFolder(opening: "\(parent.path)/data")
      var settings = EmbeddedRedisSettings()
      settings.configFile = try parent.write("appendonly yes\nmaxmemory 64mb\nport 7\n", to: "my.conf")
      let redis = try EmbeddedRedis(in: folder, settings: settings)
      try redis.start()
      defer { redis.stop() }
      let cli = RedisCLI(url: redis.endpointURL)
      #expect(try cli("CONFIG", "GET", "maxmemory") == "maxmemory\n67108864")
      #expect(try cli("CONFIG", "GET", "port") == "port\n0")
    }
  }

  @Test func aLongPathHasItsSocketElsewhere() async throws {
    try await TemporaryFolder.with { parent in
      let name = String(repeating: "long", count: 30)
      let folder = try DataFolder(opening: "\(parent.path)/\(name)")
      let redis = try EmbeddedRedis(in: folder, settings: EmbeddedRedisSettings())
      #expect(redis.endpointURL.hasPrefix("unix:///tmp/belfry-\(geteuid())/"))
      try redis.start()
      defer { redis.stop() }
      #expect(try RedisCLI(url: redis.endpointURL)("PING") == "PONG")
      let again = try EmbeddedRedis(in: folder, settings: EmbeddedRedisSettings())
      #expect(again.endpointURL == redis.endpointURL)
    }
  }
}

// MARK: Reasons not to start

extension EmbeddedRedisTests {
  @Test func aMissingProgramIsRefusedWithTheRemedy() async throws {
    try await withDataFolder { folder in
      for name in ["no-such-redis-server", "/etc/passwd", "/no/such/redis-server"] {
        var settings = EmbeddedRedisSettings()
        settings.server = name
        let redis = try EmbeddedRedis(in: folder, settings: settings)
        let error = try #require(throws: StartError.self) { try redis.start() }
        #expect(error.code == .redisMissing)
        #expect(error.place == name)
        #expect(error.cause.contains("apt-get install redis-server"))
      }
    }
  }

  @Test func settingsThatRedisRefusesAreReportedInItsWords() async throws {
    try await TemporaryFolder.with { parent in
      let folder = try DataFolder(opening: "\(parent.path)/data")
      var settings = EmbeddedRedisSettings()
      settings.configFile = try parent.write("no-such-setting yes\n", to: "my.conf")
      let redis = try EmbeddedRedis(in: folder, settings: settings)
      let error = try #require(throws: StartError.self) { try redis.start() }
      #expect(error.code == .redisUnusable)
      #expect(error.cause.contains("no-such-setting"))
    }
  }

  @Test func aProgramThatIsNotRedisIsRefusedAndNotLeftRunning() async throws {
    try await TemporaryFolder.with { parent in
      let folder = try DataFolder(opening: "\(parent.path)/data")
      var settings = EmbeddedRedisSettings()
      settings.server = try parent.write("#!/bin/sh\nexit 3\n", to: "redis-server", mode: 0o700)
      let redis = try EmbeddedRedis(in: folder, settings: settings)
      let error = try #require(throws: StartError.self) { try redis.start() }
      #expect(error.code == .redisUnusable)
    }
  }
}

// MARK: Brokers that were killed

extension EmbeddedRedisTests {
  @Test func anOrphanIsStoppedAndItsDataTakenOver() async throws {
    try await withDataFolder { folder in
      let orphan = try Orphan(in: folder)
      defer { orphan.letGo() }
      #expect(try RedisCLI(url: orphan.url)("SET", "kept", "yes") == "OK")

      let events = EventLog()
      let redis = try EmbeddedRedis(in: folder, settings: EmbeddedRedisSettings(), report: events.append)
      try redis.start()
      defer { redis.stop() }
      #expect(events.all.first == .stoppedOrphan(processID: orphan.processID))
      #expect(try RedisCLI(url: redis.endpointURL)("GET", "kept") == "yes")
    }
  }

  @Test func anOrphanThatDoesNotReactIsKilled() async throws {
    try await withDataFolder { folder in
      let orphan = try Orphan(in: folder)
      defer { orphan.letGo() }
      kill(orphan.processID, SIGSTOP)
      var settings = EmbeddedRedisSettings()
      settings.stopTimeout = .seconds(2)
      let redis = try EmbeddedRedis(in: folder, settings: settings)
      try redis.start()
      defer { redis.stop() }
      #expect(try RedisCLI(url: redis.endpointURL)("PING") == "PONG")
    }
  }

  @Test func theKernelEndsItWithItsSupervisor() async throws {
    try await withDataFolder { folder in
      let orphan = try Orphan(in: folder)
      orphan.letGo()
      let process = RunningProcess(orphan.processID)
      #expect(process?.waitForEnd(for: .seconds(30)) ?? true)
    }
  }

  /// The redis-server of a restore does not obey SIGTERM while it writes its first append-only file. A
  /// stopped process obeys none either.
  @Test func theKernelKillsWhatIsScratch() async throws {
    try await withDataFolder { folder in
      let orphan = try Orphan(in: folder, isScratch: true)
      let process = try #require(RunningProcess(orphan.processID))
      process.signal(SIGSTOP)
      orphan.letGo()
      let hasEnded = process.waitForEnd(for: .seconds(30))
      #expect(hasEnded)
      if !hasEnded { process.signal(SIGKILL) }
    }
  }
}

private func withDataFolder(_ body: (DataFolder) async throws -> Void) async throws {
  try await TemporaryFolder.with { parent in
    try await body(try DataFolder(opening: "\(parent.path)/data"))
  }
}

private final class EventLog: Sendable {
  private let events = Mutex<[EmbeddedRedis.Event]>([])

  var all: [EmbeddedRedis.Event] { events.withLock { $0 } }

  @Sendable func append(_ event: EmbeddedRedis.Event) {
    events.withLock { $0.append(event) }
  }
}

/// A redis-server that no broker watches, as a killed broker would leave it. It holds only the folder's lock.
/// A thread that does nothing else starts it, so that it lives until that thread ends.
struct Orphan {
  let processID: pid_t
  let url: String
  private let thread: ParkedThread

  init(in folder: DataFolder, isScratch: Bool = false) throws {
    let path = try RedisSocketPath.choose(for: folder.path)
    thread = ParkedThread {
      let launch = try RedisLaunch(
        folder: folder.path, socketPath: path, settings: EmbeddedRedisSettings(), isScratch: isScratch)
      #expect(try launch.stopOrphan() == nil)
      return try launch.spawn().processID
    }
    processID = try thread.outcome.get()
    url = "unix://\(path)"
    let answers = Poll.until(.now + .seconds(60)) {
      if case .ready = RedisProbe.ask(path, until: .now + .seconds(1)) { true } else { false }
    }
    #expect(answers)
  }

  func letGo() {
    thread.end()
  }
}

/// A thread that starts a process and stays until it is told to end.
private final class ParkedThread: Sendable {
  let outcome: Result<pid_t, any Error>
  private let ending = DispatchSemaphore(value: 0)

  init(_ start: @escaping @Sendable () throws -> pid_t) {
    let started = DispatchSemaphore(value: 0)
    let outcome = Outcome()
    Thread { [ending] in
      outcome.value.withLock { $0 = Result { try start() } }
      started.signal()
      ending.wait()
    }.start()
    started.wait()
    self.outcome = outcome.value.withLock { $0 }
  }

  func end() {
    ending.signal()
  }
}

private final class Outcome: Sendable {
  let value = Mutex<Result<pid_t, any Error>>(.failure(CancellationError()))
}
