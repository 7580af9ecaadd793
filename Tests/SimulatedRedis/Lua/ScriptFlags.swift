/// The things that a script or a function says that it does.
struct ScriptFlags: OptionSet, Sendable {
  let rawValue: Int

  static let onlyReads = ScriptFlags(rawValue: 1)
  static let allowsFullMemory = ScriptFlags(rawValue: 2)
  static let allowsStale = ScriptFlags(rawValue: 4)
  static let notInCluster = ScriptFlags(rawValue: 8)
  static let allowsOtherSlots = ScriptFlags(rawValue: 16)

  init(rawValue: Int) { self.rawValue = rawValue }

  /// Nil if a flag is not known.
  init?(names: some Sequence<Bytes>) {
    var flags = ScriptFlags()
    for name in names {
      switch String(decoding: name, as: UTF8.self) {
      case "no-writes": flags.insert(.onlyReads)
      case "allow-oom": flags.insert(.allowsFullMemory)
      case "allow-stale": flags.insert(.allowsStale)
      case "no-cluster": flags.insert(.notInCluster)
      case "allow-cross-slot-keys": flags.insert(.allowsOtherSlots)
      default: return nil
      }
    }
    self = flags
  }

  /// The flags of a script's first line; nil if it has no such line, as scripts had none before Redis 7.
  init?(script: Bytes) {
    guard script.starts(with: "#!".utf8) else { return nil }
    let line = String(decoding: script.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    let words = line.split(separator: " ").dropFirst()
    let flags = words.first { $0.hasPrefix("flags=") }?.dropFirst(6) ?? ""
    self.init(names: flags.split(separator: ",").map { Bytes($0.utf8) })
  }

  /// The traits that a call has because of the flags.
  func traits(_ traits: CommandSpec.Traits) -> CommandSpec.Traits {
    var traits = traits.subtracting([.writes, .needsMemory, .whileStale])
    if !contains(.onlyReads) { traits.insert(.writes) }
    if isDisjoint(with: [.onlyReads, .allowsFullMemory]) { traits.insert(.needsMemory) }
    if contains(.allowsStale) { traits.insert(.whileStale) }
    return traits
  }
}

/// The script or function that is carried out.
struct ScriptRun {
  var onlyReads = false
  /// Nil of a script without flags, whose commands are judged one by one.
  var flags: ScriptFlags?
  /// Memory was full when it began.
  var isMemoryFull = false
  /// The targets of its writes.
  var reachesFile = true
  var reachesReplicas = true
  /// The slot of its keys in a cluster, once a key has one.
  var slot: Int?
  /// It came behind ASKING.
  var isAsking = false
}
