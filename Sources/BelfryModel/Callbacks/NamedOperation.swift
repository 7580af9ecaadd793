/// An operation that a callback may be asked about.
package protocol NamedOperation: Operation {
  /// All values of `echoName`, and of the other names that its echo can have.
  static var names: [OperationName] { get }
  var actor: Actor { get }
  /// The name in echoes and of the event. It differs from that of the operation if the operation has two
  /// outcomes, such as accepting and declining.
  var echoName: OperationName { get }
  /// The target of the operation, such as `{"groupId": "7", "accids": ["bob"]}`.
  var target: JSONValue { get }
}

extension OperationName {
  /// `group.mute`
  package var event: String { "\(scene.rawValue).\(word)" }
}

extension CreateServer: NamedOperation {
  package static let names = [name]
  package var echoName: OperationName { Self.name }
  package var target: JSONValue { ["serverId": .string(space.name)] }
}

extension CreateGroup: NamedOperation {
  package static let names = [name]
  package var echoName: OperationName { Self.name }
  package var target: JSONValue { ["groupId": .string(space.name)] }
}

extension CreateRoom: NamedOperation {
  package static let names = [name]
  package var echoName: OperationName { Self.name }
  package var target: JSONValue { ["roomId": .string(space.name)] }
}
