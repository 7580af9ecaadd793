import BelfryRedis
import CFunctions

/// The Redis Functions that writes go through, one library made of `Functions/*.lua`, which `CFunctions` holds.
///
/// Its name and those of its functions carry a version, so that brokers of two releases work side by
/// side on one Redis, each with its own. Raise it whenever a function's arguments, replies or effects
/// change.
enum FunctionLibrary {
  static let version = 28
  static let name = "belfry_\(version)"

  static let code: [UInt8] = Array("#!lua name=\(name)\n".utf8) + functions

  /// The library without its first line.
  static let functions: [UInt8] =
    // A text that never changes and ends with a zero byte.
    unsafe Array("local VERSION = \(version)\n".utf8) + Array(String(cString: redis_functions()).utf8)

  static var load: RedisCommand { RedisCommand("FUNCTION", "LOAD", "REPLACE", code) }

  private static var list: RedisCommand {
    RedisCommand("FUNCTION", "LIST", "LIBRARYNAME", name, "WITHCODE")
  }

  /// Loads the library on a new connection, unless the node has this very code. Above `maxmemory`, or with a
  /// full disk, it cannot be loaded. Then reading goes on, functions that free memory run without it, and
  /// each call tries again to load it.
  ///
  /// Then each partition notes the history of the data, before any reader can hold a cursor that names it. So
  /// every history that a cursor may name has an end that can be found.
  /// - Parameters:
  ///   - read: takes the answer of TIME.
  ///   - noted: takes true if every partition of a single Redis has noted its history.
  static func setUp(
    of layout: RedisLayout,
    reading read: @escaping (_ time: RedisReply) throws(RedisError) -> Void,
    noting noted: @escaping (_ isNoted: Bool) -> Void
  ) -> RedisSetUp {
    // The call may be refused: above `maxmemory` the library may be missing, and a master may want more
    // replicas than it has. The data can be read all the same, by cursors that do not name the history. A
    // node of a cluster refuses the call for partitions that other nodes have.
    let begin = RedisSetUp(beginHistory(of: layout)) { replies in
      noted(areDone(replies))
      return nil
    }
    let checkRights = RedisSetUp([findMissingRights]) { replies throws(RedisError) in
      try refuseMissingRights(namedBy: replies[0])
      return begin
    }
    return RedisSetUp([list, RedisCommand("TIME"), publishing]) {
      replies throws(RedisError) in
      _ = try RedisSetUp.refuseErrors(Array(replies.prefix(2)))
      try refuseMissingChannels(replies[2])
      try read(replies[1])
      if replies[0].holds(code) { return checkRights }
      return RedisSetUp([load]) { replies throws(RedisError) in
        if isWriteRefused(replies[0]) { return nil }
        _ = try RedisSetUp.refuseErrors(replies)
        return checkRights
      }
    }
  }

  /// A message that nobody hears. A function publishes after it has appended, and Redis undoes nothing: a user without a right to
  /// the channels would have each send stored, and refused. Above `maxmemory` the library may be missing, and with it the
  /// function that finds missing rights.
  private static let publishing = RedisCommand("SPUBLISH", RedisLayout.rights, "")

  /// A node of a cluster refuses the channel if it belongs to another node. That says nothing about rights.
  private static func refuseMissingChannels(_ reply: RedisReply) throws(RedisError) {
    guard case .error(let message) = reply, message.hasPrefix("NOPERM ") else { return }
    _ = try RedisSetUp.refuseErrors([reply])
  }

  /// Asks for the rights that this program's user lacks. The reply is for ``refuseMissingRights(namedBy:)``.
  static let findMissingRights = RedisCommand(
    "FCALL_RO", StoreFunction.findMissingRights.name, "0", RedisLayout.format, RedisLayout.rights)

  /// - Throws: `replied` with `NOPERM` and the commands, if there are any that the user may not run.
  static func refuseMissingRights(namedBy reply: RedisReply) throws(RedisError) {
    if case .error(let message) = reply {
      // A node without the library cannot say.
      guard message.hasPrefix("NOPERM ") else { return }
      throw .replied(message, to: "rights")
    }
    let missing = String(decoding: try reply.bytes(), as: UTF8.self)
    if missing.isEmpty { return }
    throw .replied("NOPERM the broker's user may not run these commands: \(missing)", to: "rights")
  }

  static func beginHistory(of layout: RedisLayout) -> [RedisCommand] {
    layout.partitions.all.map { layout.call(.beginHistory, in: $0) }
  }

  static func areDone(_ replies: [RedisReply]) -> Bool {
    replies.allSatisfy { if case .integer = $0 { true } else { false } }
  }

  /// True if the node has no memory for the library, or cannot write it to its disk.
  static func isWriteRefused(_ reply: RedisReply) -> Bool {
    guard case .error(let message) = reply else { return false }
    return [.memory, .disk].contains(RedisError.replied(message, to: "library").writeRefusal)
  }

  /// True if a call failed because the node has no such function. Either FUNCTION FLUSH emptied it, or it is
  /// another node than the one that was set up. Nothing was done then.
  static func isMissing(_ reply: RedisReply) -> Bool {
    if case .error(let message) = reply { message.hasPrefix("ERR Function not found") } else { false }
  }
}

/// The functions.
enum StoreFunction: String, CaseIterable {
  case beginHistory = "begin_history"
  case commit, postpone, send
  case sendMany = "send_many"
  case firstSends = "first_sends"
  case locate
  case relay, deliver, list
  case markRead = "mark_read"
  case beginSweep = "begin_sweep"
  case sweepTime = "sweep_time"
  case sweepCopies = "sweep_copies"
  case sweepSpace = "sweep_space"
  case trimRead = "trim_read"
  case removeUnchanged = "remove_unchanged"
  case replaceUnchanged = "replace_unchanged"
  case sweepUpdates = "sweep_updates"
  case sweepIndex = "sweep_index"
  case sweepRead = "sweep_read"
  case sweepDelivered = "sweep_delivered"
  case sweepDedupe = "sweep_dedupe"
  case unlist
  case forgetSpace = "forget_space"
  case dropSpace = "drop_space"
  case beginCopies = "begin_copies"
  case endCopies = "end_copies"
  case claimCopies = "claim_copies"
  case saveCopies = "save_copies"
  case replayCopies = "replay_copies"
  case hastenCopies = "hasten_copies"
  case putWebhook = "put_webhook"
  case noteWebhookFailure = "note_webhook_failure"
  case putPusher = "put_pusher"
  case removePusher = "remove_pusher"
  case notePushFailure = "note_push_failure"
  case savePush = "save_push"
  case beginBadge = "begin_badge"
  case noteBadge = "note_badge"
  case settlePushes = "settle_pushes"
  case beginRegistration = "begin_registration"
  case openStreams = "open_streams"
  case closeStreams = "close_streams"
  case endStreams = "end_streams"
  case sweepStreams = "sweep_streams"
  case revokeTokens = "revoke_tokens"
  case announceRevocation = "announce_revocation"
  case findMissingRights = "find_missing_rights"

  var name: String { Self.names[self] ?? rawValue }

  /// The names are made once, since each send needs one.
  private static let names = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0, "belfry_\($0.rawValue)_\(FunctionLibrary.version)") })
  /// True for functions that are registered with `no-writes`.
  var onlyReads: Bool { [.firstSends, .locate, .sweepTime, .findMissingRights].contains(self) }
}
