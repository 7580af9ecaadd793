import BelfryBytes

/// Functions and scripts.
enum ScriptCommands {
  static let specs: [CommandSpec] = [
    CommandSpec("FUNCTION", -2, [.notInScripts], .none, manageFunctions),
    CommandSpec("FCALL", -3, [.notInScripts, .whileStale], .counted(2), callFunction),
    CommandSpec("FCALL_RO", -3, [.notInScripts, .whileStale], .counted(2), callFunction),
    CommandSpec("SCRIPT", -2, [.notInScripts, .whileStale], .none, manageScripts),
    CommandSpec("EVAL", -3, [.notInScripts, .whileStale], .counted(2), evaluate),
    CommandSpec("EVALSHA", -3, [.notInScripts, .whileStale], .counted(2), evaluateKnown),
  ]

  // MARK: Functions

  static func manageFunctions(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    switch String(decoding: call.arguments[1].uppercased, as: UTF8.self) {
    case "LOAD": return try loadFunctions(call)
    case "LIST": return try listFunctions(call)
    case "DELETE" where call.arguments.count == 3:
      try call.redis.functions.delete(call.arguments[2])
      call.noteChange()
      return .ok
    case "FLUSH":
      call.redis.functions.deleteAll()
      call.noteChange()
      return .ok
    default:
      let name = String(decoding: call.arguments[1], as: UTF8.self)
      throw CommandError("ERR unknown subcommand '\(name)'. Try FUNCTION HELP.")
    }
  }

  /// Loading is a write that needs memory. Its other subcommands are not.
  private static func loadFunctions(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let replaces = call.arguments.count == 4 && call.arguments[2].isWord("REPLACE")
    guard call.arguments.count == (replaces ? 4 : 3) else {
      throw CommandError("ERR Unknown option given: \(String(decoding: call.arguments[2], as: UTF8.self))")
    }
    let name = try call.redis.functions.load(call.arguments[call.arguments.count - 1], replaces: replaces)
    call.noteChange()
    return .bulk(name)
  }

  private static func listFunctions(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    var (pattern, hasCode, index) = (Bytes?.none, false, 2)
    while index < call.arguments.count {
      if call.arguments[index].isWord("WITHCODE") {
        hasCode = true
      } else if call.arguments[index].isWord("LIBRARYNAME"), index + 1 < call.arguments.count {
        index += 1
        pattern = call.arguments[index]
      } else {
        throw CommandError("ERR Unknown argument \(String(decoding: call.arguments[index], as: UTF8.self))")
      }
      index += 1
    }
    let libraries = call.redis.functions.libraries.filter { library in
      pattern.map { library.name.matches($0) } ?? true
    }
    return .array(libraries.map { describe($0, hasCode: hasCode) })
  }

  private static func describe(_ library: FunctionHost.Library, hasCode: Bool) -> SimulatedReply {
    let functions = library.functions.map { function in
      SimulatedReply.array([
        .text("name"), .bulk(function.name), .text("description"), .null, .text("flags"),
        .array(function.flagNames.map { .status($0) }),
      ])
    }
    var facts: [SimulatedReply] = [
      .text("library_name"), .bulk(library.name), .text("engine"), .text("LUA"), .text("functions"),
      .array(functions),
    ]
    if hasCode { facts += [.text("library_code"), .bulk(library.code)] }
    return .array(facts)
  }

  static func callFunction(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let function = call.arguments[1]
    guard let flags = call.redis.functions.flags(of: function) else {
      throw CommandError("ERR Function not found")
    }
    let (keys, arguments) = try split(call)
    let isReading = call.spec.name == "FCALL_RO"
    return try run(call, flags, onlyReads: isReading) {
      call.redis.functions.call(function, keys: keys, arguments: arguments)
    }
  }

  // MARK: Scripts

  static func manageScripts(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    switch String(decoding: call.arguments[1].uppercased, as: UTF8.self) {
    case "LOAD" where call.arguments.count == 3:
      return .bulk(try call.redis.scripts.load(call.arguments[2]))
    case "EXISTS":
      return .array(
        call.arguments(from: 2).map { .integer(call.redis.scripts.isKnown($0.lowercased) ? 1 : 0) })
    case "FLUSH":
      call.redis.scripts.forgetAll()
      return .ok
    default:
      let name = String(decoding: call.arguments[1], as: UTF8.self)
      throw CommandError("ERR unknown subcommand '\(name)'. Try SCRIPT HELP.")
    }
  }

  static func evaluate(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let (keys, arguments) = try split(call)
    return try evaluate(call, try call.redis.scripts.load(call.arguments[1]), keys, arguments)
  }

  static func evaluateKnown(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let (keys, arguments) = try split(call)
    let name = call.arguments[1].lowercased
    guard call.redis.scripts.isKnown(name) else {
      throw CommandError("NOSCRIPT No matching script. Please use EVAL.")
    }
    return try evaluate(call, name, keys, arguments)
  }

  private static func evaluate(
    _ call: CommandCall, _ name: Bytes, _ keys: [Bytes], _ arguments: [Bytes]
  ) throws(CommandError) -> SimulatedReply {
    try run(call, call.redis.scripts.flags(of: name), onlyReads: false) {
      call.redis.scripts.call(name, keys: keys, arguments: arguments)
    }
  }

  // MARK: Both

  private static func split(
    _ call: CommandCall
  ) throws(CommandError) -> (keys: [Bytes], arguments: [Bytes]) {
    guard let count = call.arguments[2].integer else {
      throw call.spec.name.hasPrefix("FCALL") ? CommandError("ERR Bad number of keys provided") : .notInteger
    }
    if count < 0 { throw CommandError("ERR Number of keys can't be negative") }
    guard count <= call.arguments.count - 3 else {
      throw CommandError("ERR Number of keys can't be greater than number of args")
    }
    let first = 3 + Int(count)
    return (Array(call.arguments[3..<first]), Array(call.arguments[first...]))
  }

  private static func run(
    _ call: CommandCall, _ flags: ScriptFlags?, onlyReads: Bool, _ body: () -> SimulatedReply
  ) throws(CommandError) -> SimulatedReply {
    let redis = call.redis
    if flags == nil, redis.master?.isUp == false { throw .masterDown }
    if let flags {
      if flags.contains(.notInCluster), redis.cluster != nil {
        throw CommandError("ERR Can not run script on cluster, 'no-cluster' flag is set.")
      }
      if onlyReads, !flags.contains(.onlyReads) {
        throw CommandError("ERR Can not execute a script with write flag using *_ro command.")
      }
    }
    redis.running = ScriptRun(
      onlyReads: onlyReads || flags?.contains(.onlyReads) == true, flags: flags,
      isMemoryFull: redis.isOutOfMemory,
      slot: call.spec.keys(of: call.arguments).first.map { ClusterSlot.of(key: $0[...]) },
      isAsking: call.client.isAsking)
    defer { redis.running = nil }
    return body()
  }
}
