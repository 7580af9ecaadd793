import BelfryModel
import ModelSamples
import TestKit

/// Something that may be done to a space, as a step of a random walk: a row of a table, so that an operation that
/// is new to the model is one row in `Commands.swift`.
struct Command: Sendable {
  let name: String
  let kind: SpaceKind
  let operation: @Sendable (Context) -> any Operation

  init(
    _ name: OperationName, in kind: SpaceKind, _ operation: @escaping @Sendable (Context) -> any Operation
  ) {
    self.name = name.description
    self.kind = kind
    self.operation = operation
  }

  init<Op: SpaceOperation>(_ operation: @escaping @Sendable (Context) -> Op) {
    self.init(Op.name, in: Op.Record.kind, operation)
  }

  static let all = ofServers + ofChannels + ofGroups + ofRooms
  static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
}

/// The values that a command is given. Each command takes those that it needs. Numbers are indexes of the
/// existing things.
struct CommandStep: Sendable {
  enum Doer: Sendable {
    case backEnd, owner
    case member(Int)
    case anybody(Int)
  }

  var command: String
  var space: Int
  var channel: Int
  var by: Doer
  var account: Int
  var others: [Int]
  /// Whether it is about accounts and records that fit: about members, or about what waits for an answer.
  var isApt: Bool
  var isOn: Bool
  var choice: Int
  var text: String
}

extension SeededGenerator {
  /// One of the commands of a scene, and what it needs.
  mutating func command(_ commands: [Command]) -> CommandStep { command(pick(commands).name) }

  mutating func command(_ name: String, space: Int? = nil, by account: Int? = nil) -> CommandStep {
    let doers: [CommandStep.Doer] = [
      .backEnd, .owner, .owner, .member(number()), .member(number()), .anybody(number()),
    ]
    return CommandStep(
      command: name, space: space ?? below(Cast.spacesPerScene), channel: below(Cast.channelsPerServer),
      by: account.map { .anybody($0) } ?? pick(doers), account: number(), others: numbers(1...3),
      isApt: !oneIn(4), isOn: !oneIn(3), choice: below(12), text: text())
  }
}
