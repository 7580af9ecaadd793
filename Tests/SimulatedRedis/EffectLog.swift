/// The writes of one command, script or transaction, as the append-only file and the replicas get them. All of them happen, or
/// none. Times are absolute, and nothing in them depends on chance or on the time of their execution.
package struct Effect: Hashable, Sendable {
  package struct Write: Hashable, Sendable {
    package let arguments: [Bytes]
    /// False if only replicas get it: a message, or the write of a script that says so.
    package var isLogged = true
  }

  package let writes: [Write]
  /// The end of the effect, in bytes since the beginning of the log.
  package let offset: Int

  /// The bytes of the writes in RESP.
  static func size(of writes: [Write]) -> Int {
    writes.reduce(0) { sum, write in
      sum + SimulatedReply.array(write.arguments.map { .bulk($0) }).encoded.count
    }
  }
}

/// All effects of a Redis, in order.
package struct EffectLog: Hashable, Sendable {
  package private(set) var effects: [Effect] = []
  package private(set) var offset = 0

  mutating func append(_ writes: [Effect.Write]) {
    offset += Effect.size(of: writes)
    effects.append(Effect(writes: writes, offset: offset))
  }

  mutating func removeEffects(through offset: Int) { effects.removeAll { $0.offset <= offset } }

  /// Goes on behind another log, as a replica does that has just got all data.
  mutating func begin(at offset: Int) { (effects, self.offset) = ([], offset) }
}

extension SimulatedRedis {
  /// All data at one moment, as a replica gets them first.
  package struct Snapshot: Sendable {
    let database: Database
    let libraries: [Bytes]
    package let offset: Int
  }

  package var snapshot: Snapshot {
    Snapshot(database: database, libraries: functions.libraries.map(\.code), offset: log.offset)
  }

  package convenience init(_ options: Options = Options(), restoring snapshot: Snapshot) {
    self.init(options)
    database = snapshot.database
    for code in snapshot.libraries { _ = try? functions.load(code, replaces: true) }
    log.begin(at: snapshot.offset)
  }

  /// The process that reads an append-only file when it starts.
  /// - Parameter effects: those of the file. A crash may have lost the last ones.
  package convenience init(_ options: Options = Options(), replaying effects: some Sequence<Effect>) {
    self.init(options)
    for effect in effects { apply(effect, isFromFile: true) }
  }

  /// Does as a replica does with an effect of its master. A key whose time is over stays until the master says so.
  package func apply(_ effect: Effect) { apply(effect, isFromFile: false) }

  private func apply(_ effect: Effect, isFromFile: Bool) {
    isReplaying = true
    defer { isReplaying = false }
    for write in effect.writes where write.isLogged || !isFromFile {
      guard let spec = CommandTable.spec(of: write.arguments) else { continue }
      _ = run(spec, CommandCall(self, SimulatedClient(id: 0), spec, write.arguments))
    }
    pendingWrites = []
    log.append(effect.writes)
  }

  /// Takes the messages that replayed effects have published here.
  package func takePushes() -> [Push] {
    defer { pushes = [] }
    return pushes
  }

  /// Removes the keys whose time is over, as Redis does now and then by itself.
  package func removeExpired(at microseconds: Int64) {
    now = microseconds
    guard !isReplica else { return }
    for key in database.keys.keys.sorted(by: { $0.precedes($1) }) where database[key]?.expiresAt != nil {
      _ = findKey(key)
      endEffect()
    }
  }

  /// Forgets effects that every file and every replica has. Offsets stay as they are.
  package func forgetEffects(through offset: Int) { log.removeEffects(through: offset) }

  /// Makes the writes since the last call one effect.
  func endEffect() {
    guard !pendingWrites.isEmpty else { return }
    if !isReplaying { log.append(pendingWrites) }
    pendingWrites = []
  }
}
