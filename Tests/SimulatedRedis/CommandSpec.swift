/// A command: how it is called, and what it may do.
struct CommandSpec: Sendable {
  typealias Body = @Sendable (CommandCall) throws(CommandError) -> SimulatedReply

  struct Traits: OptionSet, Sendable {
    let rawValue: Int

    static let writes = Traits(rawValue: 1)
    /// Refused above the limit of memory.
    static let needsMemory = Traits(rawValue: 2)
    static let notInScripts = Traits(rawValue: 4)
    /// Answered while data are loaded.
    static let whileLoading = Traits(rawValue: 8)
    /// Answered by a replica that has lost its master.
    static let whileStale = Traits(rawValue: 256)
    static let always: Traits = [.whileLoading, .whileStale]
    static let withoutLogin = Traits(rawValue: 16)
    /// Controls transactions, so it is never queued in one.
    static let notQueued = Traits(rawValue: 32)
    /// Its keys are channels, which no migration holds back.
    static let ofChannels = Traits(rawValue: 64)
    /// Allowed on a connection that has subscribed.
    static let whileSubscribed = Traits(rawValue: 128)
    static let grows: Traits = [.writes, .needsMemory]
  }

  /// The arguments that are keys.
  enum Keys: Sendable {
    case none, first, second, firstTwo, all
    /// After this argument, which says how many there are.
    case counted(Int)
  }

  let name: String
  /// The number of words; a negative one is the least number.
  let arity: Int
  let traits: Traits
  let keys: Keys
  let body: Body

  init(_ name: String, _ arity: Int, _ traits: Traits, _ keys: Keys, _ body: @escaping Body) {
    (self.name, self.arity, self.traits, self.keys, self.body) = (name, arity, traits, keys, body)
  }

  func accepts(_ count: Int) -> Bool { arity < 0 ? count >= -arity : count == arity }

  func keys(of arguments: [Bytes]) -> ArraySlice<Bytes> {
    switch keys {
    case .none: []
    case .first: arguments.dropFirst().prefix(1)
    case .second: arguments.dropFirst(2).prefix(1)
    case .firstTwo: arguments.dropFirst().prefix(2)
    case .all: arguments.dropFirst()
    case .counted(let place):
      arguments.dropFirst(place + 1).prefix(
        arguments.count > place ? Int(clamping: max(arguments[place].integer ?? 0, 0)) : 0)
    }
  }
}

enum CommandTable {
  static let all: [CommandSpec] =
    KeyCommands.specs + HashCommands.specs + SetCommands.specs + SortedSetCommands.specs
    + StreamCommands.specs + ChannelCommands.specs + ConnectionCommands.specs + ServerCommands.specs
    + ScriptCommands.specs + ClusterCommands.specs

  private static let specs = Dictionary(uniqueKeysWithValues: all.map { (Bytes($0.name.utf8), $0) })

  static func spec(of arguments: [Bytes]) -> CommandSpec? {
    arguments.first.flatMap { specs[$0.uppercased] }
  }
}
