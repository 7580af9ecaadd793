import BelfryLoop
import BelfryRedis
import BelfryStore
import BelfrySystem
import Synchronization

/// `belfry move`: moves a keyspace from an embedded or a single Redis to a cluster, or to another Redis. No
/// broker can work on the keyspace during the move. Every key is compared before brokers can work on it
/// again.
package struct Move: Sendable {
  private let configuration: Configuration
  private let target: RedisEndpoint?
  private let partitions: Int?
  private let progress: @Sendable (MoveProgress) -> Void

  /// - Parameters:
  ///   - options: the options of `belfry serve`. The Redis that it would use is the source.
  ///   - target: the URL of the Redis to move to, or of a node; nil for a cancellation that does not reach
  ///     it.
  ///   - partitions: the number of partitions that the keyspace is to have.
  package init(
    from options: ServeOptions, to target: String?, partitions: Int? = nil, environment: [String: String],
    progress: @escaping @Sendable (MoveProgress) -> Void
  ) throws(BackupError) {
    do throws(StartError) {
      configuration = try Configuration.load(options: options, environment: environment)
    } catch {
      throw BackupError(error)
    }
    self.target = try target.map { url throws(BackupError) in try RedisEndpoint(backup: url) }
    self.partitions = partitions
    self.progress = progress
  }

  package func run() async throws(BackupError) -> MoveReport {
    guard let target else {
      throw BackupError(.redisUnsuitable, "the target Redis is not named", at: "--to")
    }
    return try await withSource { endpoint throws(BackupError) in
      try await RedisSession.withLoop { loop throws(BackupError) in
        try await move(endpoint, target, loop)
      }
    }
  }

  /// Gives the keyspace back to the source.
  package func cancel() async throws(BackupError) -> MoveReport {
    try await withSource { endpoint throws(BackupError) in
      try await RedisSession.withLoop { loop throws(BackupError) in
        try await cancel(endpoint, nil, loop)
      }
    }
  }

  private func withSource(
    _ body: (RedisEndpoint) async throws(BackupError) -> MoveReport
  ) async throws(BackupError) -> MoveReport {
    if let url = configuration.redisURL { return try await body(try RedisEndpoint(backup: url)) }
    let embedded = try EmbeddedSource(configuration) { step in
      if case .startingRedis(let folder) = step { progress(.startingRedis(folder: folder)) }
    }
    defer { embedded.end() }
    return try await body(embedded.endpoint)
  }

  // MARK: Moving

  private func move(
    _ from: RedisEndpoint, _ to: RedisEndpoint, _ loop: EventLoop
  ) async throws(BackupError) -> MoveReport {
    let begun = Mutex<MoveRecord?>(nil)
    do throws(BackupError) {
      return try await withSides(from, to, loop) { source, target throws(BackupError) in
        let run = MoveRun(
          source: source, target: target, partitionsWanted: partitions, progress: progress)
        return try await run.run { record in begun.withLock { $0 = record } }
      }
    } catch {
      guard let record = begun.withLock({ $0 }) else { throw error }
      throw await undo(record, from, loop, after: error)
    }
  }

  private func withSides(
    _ from: RedisEndpoint, _ to: RedisEndpoint, _ loop: EventLoop,
    _ body: (MoveSide, MoveSide) async throws(BackupError) -> MoveReport
  ) async throws(BackupError) -> MoveReport {
    let source = try await MoveSide.open(from, on: loop)
    do throws(BackupError) {
      guard !source.isCluster else {
        throw MoveSide.unsuitable(from, "it is a node of a cluster, from which a move is not possible yet")
      }
      let target = try await MoveSide.open(to, on: loop)
      do throws(BackupError) {
        let report = try await body(source, target)
        await target.close()
        await source.close()
        return report
      } catch {
        await target.close()
        throw error
      }
    } catch {
      await source.close()
      throw error
    }
  }

  /// Gives the keyspace back to the source, if the move has not been decided. The advice of the error tells
  /// the result.
  private func undo(
    _ record: MoveRecord, _ from: RedisEndpoint, _ loop: EventLoop, after error: BackupError
  ) async -> BackupError {
    var error = error
    do throws(BackupError) {
      let report = try await cancel(from, record.id, loop)
      let what = (["the keyspace was given back: brokers continue"] + report.remarks).joined(separator: "; ")
      error.advice = [error.advice, what].compactMap(\.self).joined(separator: "; ")
    } catch let second {
      error.advice =
        "brokers stay paused (\(second.cause)): run belfry move again to finish the move, or with --cancel to give the "
        + "keyspace back"
    }
    if error.cause.hasPrefix("OOM") {
      error.advice = "it needs more memory than maxmemory leaves; " + (error.advice ?? "")
    }
    return error
  }

  // MARK: Cancelling

  /// - Parameter id: the id of the move to undo; nil: any move.
  private func cancel(
    _ from: RedisEndpoint, _ id: String?, _ loop: EventLoop
  ) async throws(BackupError) -> MoveReport {
    let source = try await MoveSide.open(from, on: loop)
    var there: MoveSide?
    var problem: String?
    if let target {
      do throws(BackupError) { there = try await MoveSide.open(target, on: loop) } catch {
        problem = error.cause
      }
    }
    do throws(BackupError) {
      // Redis may still be working on a command whose client has just ended.
      try await OtherCommands.moves.refuseOthers(at: source.nodes + (there?.nodes ?? []))
      let left = try await MoveCancel(source: source, target: there, progress: progress).run(id)
      let remarks = [problem.map { "\(target?.description ?? ""): \($0)" }, left].compactMap(\.self)
      await there?.close()
      await source.close()
      return MoveReport(
        outcome: .cancelled, from: from.description, to: target?.description ?? "", partitions: 0,
        partitionsBefore: 0,
        endedAt: WallClock.nowMilliseconds(), remarks: remarks)
    } catch {
      await there?.close()
      await source.close()
      throw error
    }
  }
}
