import BelfryServer
import BelfryTransport
import Foundation
import Glibc
import TestKit
import Testing

/// A running `belfry serve`, the executable itself, in its own folder.
final class Broker: @unchecked Sendable {
  let port: UInt16
  let folder: String
  private let redisURL: String?
  private let options: [String: String]
  private let descriptors: Int?
  private let tls: TLSContext?
  private var process: ChildProcess?

  static let secret = "0123456789abcdef0123456789abcdef"
  /// The timeout for things that happen at once. A busy machine may take this long.
  static let patience: Duration = .seconds(60)

  /// The executable in `BELFRY_EXECUTABLE`, as scripts/test sets it, which is the one that users run.
  /// Otherwise the one that is built with the tests, next to their runner.
  static let executable: String = {
    if let named = ProcessInfo.processInfo.environment["BELFRY_EXECUTABLE"] { return named }
    let runner = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: runner).deletingLastPathComponent().appendingPathComponent("belfry").path
  }()

  /// - Parameters:
  ///   - options: settings of the configuration by environment variable.
  ///   - descriptors: how many it may have, if not as many as the tests.
  ///   - tls: by which it is asked whether it is ready.
  init(
    redisURL: String?, options: [String: String] = [:], descriptors: Int? = nil,
    tls: TLSContext? = TestTLS.shared?.context
  ) throws {
    self.tls = tls
    port = try findFreePort()
    folder = try makeTemporaryFolder()
    self.redisURL = redisURL
    self.options = options
    self.descriptors = descriptors
  }

  static func started(redisURL: String?, options: [String: String] = [:]) async throws -> Broker {
    var attempts = 0
    while true {
      let broker = try Broker(redisURL: redisURL, options: options)
      do {
        try await broker.start()
        return broker
      } catch {
        // Another server may have taken the port meanwhile.
        let isPortTaken = broker.log.contains("addressInUse")
        await broker.remove()
        attempts += 1
        guard isPortTaken, attempts < 3 else { throw error }
      }
    }
  }

  /// For client programs, which find the authority in `BELFRY_CA`.
  var url: String { "\(TestTLS.isOn ? "https" : "http")://localhost:\(port)" }
  var logPath: String { folder + "/broker.log" }
  var log: String { (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? "" }
  var processID: pid_t? { process?.id }

  var environment: [String: String] {
    var environment = [
      "BELFRY_SECRET": Self.secret, "BELFRY_LISTEN": "127.0.0.1:\(port)", "BELFRY_DATA": folder + "/data",
    ]
    environment["BELFRY_LOOPS"] = "2"
    // Tests ask as fast as they can, from few accounts.
    for what in ["SENDS", "READS"] { environment["BELFRY_LIMITS_\(what)_PER_SECOND_PER_ACCOUNT"] = "1000000" }
    environment["BELFRY_REDIS"] = redisURL
    if let tls = TestTLS.shared {
      environment["BELFRY_TLS_CERTIFICATE_FILE"] = tls.identity.certificateFile
      environment["BELFRY_TLS_KEY_FILE"] = tls.identity.keyFile
    }
    return environment.merging(options) { $1 }
  }

  func start(waits: Bool = true) async throws {
    let limited = descriptors.map { ["/bin/sh", "-c", "ulimit -n \($0); exec \"$0\" \"$@\""] } ?? []
    process = try ChildProcess(
      limited + [Self.executable, "serve"], environment: environment, output: logPath, folder: folder)
    if waits { try await waitUntilReady() }
  }

  /// Waits until all loops are connected to Redis. An answer of one loop says nothing of the others, and each connection may
  /// come to another loop.
  func waitUntilReady() async throws {
    let deadline = ContinuousClock.now + Self.patience
    while (try? Wire(port: port, tls: tls).request("GET", "/readyz"))?.status != 200 {
      if ContinuousClock.now > deadline || process?.isEnding != false {
        throw Wire.Failure(description: "the broker does not become ready:\n\(lastLogLines(of: logPath))")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// The memory that it uses now, and the most that it has used; in KiB.
  var residentKiB: Int { status("VmRSS") }
  var peakKiB: Int { status("VmHWM") }

  private func status(_ name: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/\(processID ?? 0)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
    return line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first ?? 0
  }

  /// The processor time that it has taken, in hundredths of a second.
  var processorTicks: Int {
    let stat = (try? String(contentsOfFile: "/proc/\(processID ?? 0)/stat", encoding: .utf8)) ?? ""
    // The name comes first, in parentheses, and may contain any character.
    let fields = stat.drop { $0 != ")" }.split(separator: " ")
    return fields.count > 13 ? (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0) : 0
  }

  func signal(_ number: Int32) { process?.signal(number) }

  /// Waits for its end.
  func hasEnded() async -> Bool {
    guard let process else { return true }
    let ended = await process.hasEnded(within: Self.patience)
    if ended { self.process = nil }
    return ended
  }

  func kill() async {
    signal(SIGKILL)
    _ = await hasEnded()
  }

  func stop() async {
    signal(SIGTERM)
    if !(await hasEnded()) { await kill() }
  }

  func remove() async {
    await kill()
    removeFolder(folder)
  }

  deinit { process?.signal(SIGKILL) }
}

/// One Redis and a number of brokers on it, and the means to act as people there.
struct World: Sendable {
  let redis: RedisServer
  let brokers: [Broker]

  subscript(_ index: Int) -> Broker { brokers[index % brokers.count] }
}

func withWorld<Result>(
  brokers count: Int = 1, redis options: RedisServer.Options = .init(), settings: [String: String] = [:],
  _ body: (World) async throws -> Result
) async throws -> Result {
  try await withRedisServer(options) { redis in
    var brokers: [Broker] = []
    for _ in 0..<count { brokers.append(try await Broker.started(redisURL: redis.url, options: settings)) }
    do {
      let result = try await body(World(redis: redis, brokers: brokers))
      for broker in brokers { await broker.remove() }
      return result
    } catch {
      for broker in brokers {
        Issue.record("broker's log:\n\(broker.log.suffix(2_000))")
        await broker.remove()
      }
      throw error
    }
  }
}

extension RedisServer {
  /// The number of items in the outboxes of all partitions.
  func outboxItems() throws -> Int {
    try command("KEYS", "*:outbox").split(separator: "\n")
      .reduce(0) { try $0 + (Int(command("XLEN", String($1))) ?? 0) }
  }
}
