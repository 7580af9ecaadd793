import CLinux
import Glibc

/// Starts the redis-server of a data folder, and never two on one folder (``RedisLock``).
final class RedisLaunch: Sendable {
  let socketPath: String
  let logPath: String
  /// The folder with Redis's data.
  let redisFolder: String
  /// The time from SIGTERM to SIGKILL, in which Redis writes its data to the disk.
  let stopTimeout: Duration
  private let executable: String
  private let arguments: [String]
  private let lock: RedisLock
  private let isScratch: Bool

  /// A log of redis-server beyond this size is renamed at a start, and replaces the one renamed before. Redis
  /// writes some lines an hour.
  static let logSizeMaxBytes = 4 << 20
  static let stopTimeout: Duration = .seconds(15)

  /// - Parameters:
  ///   - others: arguments that override Belfry's own.
  ///   - isScratch: see ``EmbeddedRedis``.
  init(
    folder: String, socketPath: String, settings: EmbeddedRedisSettings, arguments others: [String] = [],
    isScratch: Bool = false
  ) throws(StartError) {
    executable = try RedisExecutable.find(settings.server)
    stopTimeout = settings.stopTimeout
    let redisFolder = RedisLaunch.redisFolder(in: folder)
    self.redisFolder = redisFolder
    guard unsafe mkdir(redisFolder, 0o700) == 0 || errno == EEXIST else {
      throw .refused(.dataFolderUnusable, "cannot make the folder", at: redisFolder)
    }
    try RedisLaunch.checkMode(of: redisFolder)
    self.socketPath = socketPath
    logPath = redisFolder + "/redis.log"
    self.isScratch = isScratch
    arguments =
      [
        executable, try RedisLaunch.configFile(settings, in: redisFolder),
        "--dir", redisFolder, "--unixsocket", socketPath, "--port", "0",
        "--appendfsync", settings.appendFsync.rawValue, "--daemonize", "no", "--logfile", "",
      ] + Self.memory(settings) + others
    lock = try RedisLock(in: redisFolder)
  }

  /// The folder with Redis's data in a data folder.
  static func redisFolder(in dataFolder: String) -> String { dataFolder + "/redis" }

  /// Redis gets half of the memory by default. The other half is for the pages that are copied while the
  /// append-only file is rewritten, for the broker, and for the system.
  private static func memory(_ settings: EmbeddedRedisSettings) -> [String] {
    if settings.maxMemoryBytes == nil, settings.configFile != nil { return [] }
    return ["--maxmemory", String(settings.maxMemoryBytes ?? MachineMemory.totalBytes / 2)]
  }

  /// Everybody may read the files that Redis writes, so other users must not be able to enter the folder. A
  /// folder that was copied or restored by hand may be open.
  private static func checkMode(of folder: String) throws(StartError) {
    var status = stat()
    guard unsafe stat(folder, &status) == 0 else {
      throw .refused(.dataFolderUnusable, "cannot enter the folder", at: folder)
    }
    guard status.st_mode & (S_IRWXO | S_IWGRP) == 0 else {
      throw StartError(
        .dataFolderUnusable,
        "users other than its owner may read the notifications in the folder, or write to it "
          + "(mode 0\(String(status.st_mode & 0o777, radix: 8))). Run chmod 700 \(folder)",
        at: folder)
    }
  }

  /// The full path of the file that operators have named; nil if they named none.
  static func namedConfigFile(_ settings: EmbeddedRedisSettings) throws(StartError) -> String? {
    guard let path = settings.configFile else { return nil }
    guard unsafe access(path, R_OK) == 0, let resolved = unsafe realpath(path, nil) else {
      throw .refused(.unreadableFile, "cannot read it", at: path)
    }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// The file is written at a start if Belfry's settings have changed, so that an upgrade also brings its settings. Otherwise
  /// it is left alone: a broker must start while its disk is full too.
  private static func configFile(
    _ settings: EmbeddedRedisSettings, in redisFolder: String
  ) throws(StartError) -> String {
    if let resolved = try namedConfigFile(settings) { return resolved }
    let path = redisFolder + "/redis.conf"
    if (try? SmallFile.read(path, sizeMaxBytes: 1 << 20)) == RedisDefaults.configuration { return path }
    try SmallFile.replace(path, with: RedisDefaults.configuration, mode: 0o600, orThrow: .dataFolderUnusable)
    return path
  }

  /// Stops the redis-server that a killed broker left behind, and takes the lock. It must succeed once before
  /// `spawn`.
  /// - Returns: the process that was stopped; nil if there was none.
  func stopOrphan() throws(StartError) -> pid_t? {
    try lock.stopHolder(within: stopTimeout, isScratch: isScratch)
  }

  /// Starts a redis-server that ends with the calling thread: the kernel sends it SIGTERM, or SIGKILL if it
  /// is scratch. A scratch redis-server would not obey SIGTERM while it writes its first append-only file.
  func spawn() throws(StartError) -> RunningProcess {
    setLogAside()
    let log = unsafe open(logPath, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard log >= 0 else { throw .refused(.dataFolderUnusable, "cannot write it", at: logPath) }
    defer { close(log) }
    // SAFETY: the strings outlive the call, and the array ends with nil as exec demands.
    var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    let processID = unsafe linux_spawn_bound_to_this_thread(
      executable, &pointers, log, lock.descriptor, isScratch ? SIGKILL : SIGTERM)
    guard processID > 0, let process = RunningProcess(processID) else {
      throw .refused(.redisUnusable, "cannot start a process", at: executable)
    }
    ProcessIDFile.write(lock.descriptor, processID)
    return process
  }

  private func setLogAside() {
    var status = stat()
    guard unsafe stat(logPath, &status) == 0, status.st_size > RedisLaunch.logSizeMaxBytes else { return }
    unsafe rename(logPath, logPath + ".1")
  }

  /// The last lines that redis-server logged, which say why it did not start.
  func endOfLog() -> String {
    let content = (try? SmallFile.read(logPath, sizeMaxBytes: 2 * RedisLaunch.logSizeMaxBytes)) ?? []
    let lines = String(decoding: content.suffix(4_096), as: UTF8.self).split(separator: "\n")
    return lines.suffix(5).joined(separator: "\n")
  }
}

enum RedisDefaults {
  /// config/redis.conf, as it was when Belfry was built.
  package static let configuration = PackageResources.redis_conf
}
