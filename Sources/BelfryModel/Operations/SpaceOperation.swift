/// An operation on a space that exists, as nearly all of them are.
///
/// This protocol and ``Draft`` do the common work: reading the settings and the actor's record, checking the
/// actor's access, the preconditions, and the echo to the actor's other devices. The operation has only its
/// own rule.
package protocol SpaceOperation: NamedOperation {
  associatedtype Record: SpaceRecord
  associatedtype Output

  static var name: OperationName { get }
  static var access: Access { get }
  /// The records that it decides on in addition to the settings of the space and the actor's own.
  var concerns: [RecordAddress] { get }
  /// The accounts it names, for the echo.
  var accounts: [AccountID] { get }
  /// The channel it happens in.
  var channelID: EntityID? { get }
  /// True if hidden spaces and channels are refused as if they did not exist. False if the operation decides
  /// that itself: an account that answers an invitation is no member yet.
  var isHiddenFromStrangers: Bool { get }
  func carryOut(_ draft: inout Draft<Record>) throws(Refusal) -> Output
}

/// The accounts that may do an operation. A trusted caller may do all of them.
package enum Access: String, Sendable, CaseIterable {
  case anyAccount
  case members
  case administrators
  case owner
  /// The operation decides itself.
  case ownRule
  /// Only trusted callers.
  case trusted
}

extension SpaceOperation {
  package static var names: [OperationName] { [name] }
  package var echoName: OperationName { Self.name }
  package var concerns: [RecordAddress] { [] }
  package var accounts: [AccountID] { [] }
  package var channelID: EntityID? { nil }
  package var isHiddenFromStrangers: Bool { true }

  package var needs: [RecordAddress] {
    [.settings(space)] + actor.needs(in: space) + (channelID.map { [.channel($0, of: space)] } ?? [])
      + concerns
  }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<Output> {
    let settings = try records.settings(Record.self, space)
    var draft = Draft(space, settings, by: actor, on: records, context)
    if isHiddenFromStrangers { try draft.requireInSight(channel: channelID) }
    try draft.require(Self.access, to: echoName.act)
    let output = try carryOut(&draft)
    return Decision(try draft.finish(echoName, target: target), output)
  }

  package var target: JSONValue {
    var target: JSONObject = [Record.idField: .string(space.name)]
    if let channelID { target["channelId"] = .string(channelID.text) }
    if !accounts.isEmpty { target["accids"] = .array(accounts.map { .string($0.text) }) }
    return .object(target)
  }
}

extension Actor {
  /// The actor's member record.
  func needs(in space: SpaceID) -> [RecordAddress] {
    account.map { [.member($0, of: space)] } ?? []
  }
}

/// The name of an operation, on the command line and in echoes: `group mute`.
package struct OperationName: Sendable, Hashable, CustomStringConvertible {
  package var scene: NotificationType.Scene
  package var word: String

  package init(_ scene: NotificationType.Scene, _ word: String) {
    self.scene = scene
    self.word = word
  }

  package var description: String { "\(scene.rawValue) \(word)" }
}
