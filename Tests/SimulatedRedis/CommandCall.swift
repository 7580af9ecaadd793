/// One command that is carried out.
final class CommandCall {
  let redis: SimulatedRedis
  /// The connection that it came by, which the command may change.
  var client: SimulatedClient
  let spec: CommandSpec
  let arguments: [Bytes]
  /// Replies before the last one.
  var earlierReplies: [SimulatedReply] = []
  var wait: ReplicationQuestion?
  /// The writes that replicas get; nil if the command changed nothing.
  private(set) var writes: [Effect.Write]?
  /// True if it was queued in a transaction, or is a script's.
  let isInside: Bool

  init(
    _ redis: SimulatedRedis, _ client: SimulatedClient, _ spec: CommandSpec, _ arguments: [Bytes],
    isInside: Bool = false
  ) {
    (self.redis, self.client, self.spec, self.arguments) = (redis, client, spec, arguments)
    self.isInside = isInside
  }

  var key: Bytes { arguments[1] }
  var name: String { spec.name.lowercased() }

  /// Notes that the command changed something, so that replicas get it as it is.
  func noteChange() { if writes == nil { writes = [Effect.Write(arguments: arguments)] } }

  /// Notes the command that has the same effect on any replica at any time.
  func noteChange(as arguments: [Bytes], isLogged: Bool = true) {
    writes = [Effect.Write(arguments: arguments, isLogged: isLogged)]
  }

  // MARK: Arguments

  func integer(_ index: Int) throws(CommandError) -> Int64 {
    guard let number = arguments[index].integer else { throw .notInteger }
    return number
  }

  func double(_ index: Int, orRefuse refusal: CommandError = .notFloat) throws(CommandError) -> Double {
    guard let number = arguments[index].double else { throw refusal }
    return number
  }

  /// The arguments from this one on.
  func arguments(from index: Int) -> ArraySlice<Bytes> { arguments[index...] }

  // MARK: Values

  /// The key, unless it has expired.
  func findKey(_ key: Bytes) -> Database.Key? { redis.findKey(key) }

  /// Nil if there is no such key.
  func read<Value: ValueOfKind>(_ kind: Value.Type, _ key: Bytes) throws(CommandError) -> Value? {
    guard let found = redis.findKey(key) else { return nil }
    guard let value = Value.of(found.value) else { throw .wrongType }
    return value
  }

  /// Changes the value of the key, which is made if it does not exist, and removed if it is empty at the end.
  func change<Value: ValueOfKind, Result>(
    _ kind: Value.Type, _ key: Bytes, _ body: (inout Value) throws(CommandError) -> Result
  ) throws(CommandError) -> Result {
    if let found = redis.findKey(key), Value.of(found.value) == nil { throw .wrongType }
    return try redis.database.change(key, of: kind, body)
  }

  /// Changes the value, if there is one.
  func changeIfPresent<Value: ValueOfKind, Result>(
    _ kind: Value.Type, _ key: Bytes, _ body: (inout Value) throws(CommandError) -> Result
  ) throws(CommandError) -> Result? {
    guard let found = redis.findKey(key) else { return nil }
    guard Value.of(found.value) != nil else { throw .wrongType }
    return try redis.database.change(key, of: kind, body)
  }
}

extension SimulatedRedis {
  /// The key, unless it has expired. A master removes it then, and tells its replicas.
  func findKey(_ key: Bytes) -> Database.Key? {
    guard let found = database[key] else { return nil }
    guard let expiresAt = found.expiresAt, expiresAt < nowMilliseconds, !isReplaying else { return found }
    if isReplica { return nil }
    database.remove(key)
    pendingWrites.append(Effect.Write(arguments: [Bytes("DEL".utf8), key]))
    return nil
  }
}
