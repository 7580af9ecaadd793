import BelfryRedis

/// Compares the keyspace's format record with the broker's own facts. It does so on each new connection
/// before anything else, since Redis may have been replaced meanwhile. A new keyspace is given its record.
final class FormatCheck {
  private(set) var keyspace: Keyspace
  /// The address of this Redis, for refusals.
  private let place: String
  /// True if the record is to get this broker's settings. This is done once, at the start: if it were done on
  /// every connection, two brokers with the option would overrule each other for ever.
  private var adopts: Bool
  /// The settings that this broker is to replace, and Redis has refused to.
  private var unadopted: [SettingDifference] = []
  var onSettings: ((SettingsFinding) -> Void)?
  /// True if the record names a secret that this broker still accepts but no longer signs with. The record
  /// then has to be changed to the new secret.
  private(set) var isSecretBehind = false
  let hashes: PartitionHashes
  private var isOfCluster = false
  /// True once this Redis had the keyspace. If it is missing later, it is lost.
  private var hasSeenKeyspace = false

  init(_ keyspace: Keyspace, adopts: Bool, at place: String) {
    self.keyspace = keyspace
    self.adopts = adopts
    self.place = place
    hashes = PartitionHashes(RedisLayout(keyspace.partitions))
  }

  let read = RedisCommand(
    "HMGET", RedisLayout.format, "format", "secret", "limits", RedisLayout.hashesField)

  /// Secrets are rotated while brokers run.
  func take(secretFingerprint: String, others: [String]) {
    keyspace.secretFingerprint = secretFingerprint
    keyspace.otherFingerprints = others
  }

  var writingSecret: RedisCommand {
    RedisCommand("HSET", RedisLayout.format, "secret", keyspace.secretFingerprint)
  }

  /// Each field is written only if it is not there: another broker may write it at the same moment.
  var writing: [RedisCommand] {
    [
      ("format", keyspace.format), ("secret", keyspace.secretFingerprint), ("limits", keyspace.limits),
    ].map { RedisCommand("HSETNX", RedisLayout.format, $0.0, $0.1) }
  }

  /// For a keyspace that is about to be made.
  private var writingNew: [RedisCommand] {
    writing + [RedisCommand("HSETNX", RedisLayout.format, RedisLayout.hashesField, PartitionHashes.begun)]
  }

  /// - Throws: `unsuitable` if the broker must not work on it.
  /// - Returns: true if no part of the record was missing.
  func compare(_ record: FormatRecord) throws(RedisError) -> Bool {
    guard let differences = try differences(from: record) else { return false }
    if adopts, !differences.isEmpty {
      unadopted = differences
      return true
    }
    adopts = false
    onSettings?(.differ(differences))
    return true
  }

  /// Nil if a part of the record is missing.
  private func differences(from record: FormatRecord) throws(RedisError) -> [SettingDifference]? {
    if let format = record.format, let refusal = keyspace.refusal(ofFormat: format) {
      throw RedisError(.unsuitable, cause: refusal, place: place)
    }
    record.format.map { keyspace.take(format: $0) }
    hashes.take(record.hashes)
    guard record.format != nil, let secret = record.secret, let limits = record.limits else { return nil }
    isSecretBehind = secret != keyspace.secretFingerprint && keyspace.otherFingerprints.contains(secret)
    return keyspace.differences(fromSecret: secret, limits: limits)
  }
}

// MARK: - On a new connection

extension FormatCheck {
  /// - Parameter isOfCluster: true if another node may have the record. A broker uses no node before that
  ///   one.
  func setUp(isOfCluster: Bool, then following: RedisSetUp) -> RedisSetUp {
    self.isOfCluster = isOfCluster
    return RedisSetUp([read]) { [self] replies throws(RedisError) in
      if isOfCluster, case .error(let message) = replies[0], message.hasPrefix("MOVED ") {
        return makeHashes(then: following)
      }
      let record = try FormatRecord(replies[0])
      return record.format == nil
        ? lookForData(from: Array("0".utf8), then: following) : try take(record, then: following)
    }
  }

  /// Scans all keys, until one of a partition is found. In a new keyspace there are keys only if others use
  /// this Redis too.
  private func lookForData(from cursor: [UInt8], then following: RedisSetUp) -> RedisSetUp {
    let scan = RedisCommand("SCAN", cursor, "MATCH", RedisLayout.anyPartition, "COUNT", 1_000)
    return RedisSetUp([scan]) { [self] replies throws(RedisError) in
      let reply = try replies[0].array(count: 2)
      if try reply[1].array().isEmpty == false { return refuseUnlessWritten(then: following) }
      let next = Array(try reply[0].bytes())
      guard next == Array("0".utf8) else { return lookForData(from: next, then: following) }
      if hasSeenKeyspace { onSettings?(.gone) }
      return write(writingNew, then: following)
    }
  }

  /// Another broker may have written the record and begun to work, since this one looked for it.
  private func refuseUnlessWritten(then following: RedisSetUp) -> RedisSetUp {
    RedisSetUp([read]) { [self] replies throws(RedisError) in
      let record = try FormatRecord(replies[0])
      guard record.format != nil else {
        throw RedisError(.unsuitable, cause: Keyspace.refusalWithoutRecord, place: place)
      }
      return try take(record, then: following)
    }
  }

  private func write(_ writing: [RedisCommand], then following: RedisSetUp) -> RedisSetUp {
    RedisSetUp(writing + [read]) { [self] replies throws(RedisError) in
      _ = try RedisSetUp.refuseErrors(replies)
      return try take(try FormatRecord(replies[writing.count]), then: following)
    }
  }

  private func makeHashes(then following: RedisSetUp) -> RedisSetUp {
    hashes.setUp(isOfCluster: isOfCluster, then: following)
  }

  private func take(_ record: FormatRecord, then following: RedisSetUp) throws(RedisError) -> RedisSetUp {
    guard let differences = try differences(from: record) else {
      return write(writing, then: following)
    }
    if adopts, !differences.isEmpty { return adopt(differences, then: following) }
    adopts = false
    hasSeenKeyspace = true
    onSettings?(.differ(differences))
    return makeHashes(then: following)
  }

  /// True if this broker is still to replace settings of the keyspace.
  var hasToAdopt: Bool { adopts && !unadopted.isEmpty }

  var writingSettings: RedisCommand {
    RedisCommand(
      "HSET", RedisLayout.format, "secret", keyspace.secretFingerprint, "limits", keyspace.limits)
  }

  func noteAdopted() {
    adopts = false
    onSettings?(.adopted(unadopted))
    unadopted = []
  }

  private func adopt(_ differences: [SettingDifference], then following: RedisSetUp) -> RedisSetUp {
    unadopted = differences
    return RedisSetUp([writingSettings]) { [self] replies in
      // Above maxmemory the write fails. This broker may be the one that is to free memory, so it works by
      // its own settings all the same. It tries again when it next compares the record.
      if case .error(let message) = replies[0] {
        onSettings?(.notAdopted(differences, cause: message))
      } else {
        noteAdopted()
      }
      return makeHashes(then: following)
    }
  }
}

/// The fields of the record that exist.
struct FormatRecord {
  let format: String?
  let secret: String?
  let limits: String?
  /// The progress in making the hashes of the partitions; see ``PartitionHashes``.
  let hashes: String?

  init(_ reply: RedisReply) throws(RedisError) {
    let fields = try reply.array(count: 4)
    format = try fields[0].ifPresent?.string()
    secret = try fields[1].ifPresent?.string()
    limits = try fields[2].ifPresent?.string()
    hashes = try fields[3].ifPresent?.string()
  }
}
