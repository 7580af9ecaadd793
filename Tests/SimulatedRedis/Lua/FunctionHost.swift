/// The libraries of functions.
final class FunctionHost {
  struct Library {
    let name: Bytes
    let code: Bytes
    /// In the order of their registration.
    let functions: [Function]
  }

  struct Function {
    let name: Bytes
    let flagNames: [Bytes]
    let flags: ScriptFlags
  }

  let machine = LuaMachine()
  private(set) var libraries: [Library] = []
  private var places: [Bytes: (library: Bytes, flags: ScriptFlags)] = [:]

  func flags(of function: Bytes) -> ScriptFlags? { places[function]?.flags }

  /// - Returns: the library's name.
  func load(_ code: Bytes, replaces: Bool) throws(CommandError) -> Bytes {
    let name = try Self.name(of: code)
    let known = libraries.first { $0.name == name }
    if known != nil, !replaces {
      throw CommandError(Bytes("ERR Library '".utf8) + name + Bytes("' already exists".utf8))
    }
    // The first line stays as an empty one, so the lines keep their numbers.
    let text = Bytes(code.drop { $0 != UInt8(ascii: "\n") })
    let reply = machine.call("load_library", arguments: [name, text])
    guard case .array(let facts) = reply else {
      if case .error(let problem) = reply { throw CommandError(problem) }
      throw CommandError("ERR the library gives no functions")
    }
    let functions = try Self.functions(facts)
    for function in functions where places[function.name].map({ $0.library != name }) ?? false {
      throw CommandError(Bytes("ERR Function ".utf8) + function.name + Bytes(" already exists".utf8))
    }
    forget(name)
    libraries.append(Library(name: name, code: code, functions: functions))
    for function in functions { places[function.name] = (name, function.flags) }
    return name
  }

  func delete(_ name: Bytes) throws(CommandError) {
    guard libraries.contains(where: { $0.name == name }) else { throw CommandError("ERR Library not found") }
    forget(name)
    _ = machine.call("forget_library", arguments: [name])
  }

  func deleteAll() {
    for library in libraries {
      forget(library.name)
      _ = machine.call("forget_library", arguments: [library.name])
    }
  }

  private func forget(_ name: Bytes) {
    libraries.removeAll { $0.name == name }
    places = places.filter { $0.value.library != name }
  }

  func call(_ function: Bytes, keys: [Bytes], arguments: [Bytes]) -> SimulatedReply {
    guard let place = places[function] else { return .error(Bytes("ERR Function not found".utf8)) }
    return machine.call("call_function", keys: keys, arguments: arguments + [place.library, function])
  }

  /// Reads the first line, `#!lua name=NAME`.
  private static func name(of code: Bytes) throws(CommandError) -> Bytes {
    guard code.starts(with: "#!".utf8) else { throw CommandError("ERR Missing library metadata") }
    let line = String(decoding: code.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    let words = line.dropFirst(2).split(separator: " ")
    guard let engine = words.first, engine.lowercased() == "lua" else {
      throw CommandError("ERR Engine '\(words.first ?? "")' not found")
    }
    guard let name = words.first(where: { $0.hasPrefix("name=") })?.dropFirst(5) else {
      throw CommandError("ERR Library name was not given")
    }
    return Bytes(name.utf8)
  }

  private static func functions(_ facts: [SimulatedReply]) throws(CommandError) -> [Function] {
    let words: [Bytes] = facts.map { if case .bulk(let text) = $0 { text } else { [] } }
    var (functions, index) = ([Function](), 0)
    while index + 1 < words.count {
      let count = Int(words[index + 1].integer ?? 0)
      let names = Array(words[(index + 2)..<(index + 2 + count)])
      guard let flags = ScriptFlags(names: names) else {
        throw CommandError("ERR Error registering functions: unknown flag given")
      }
      functions.append(Function(name: words[index], flagNames: names, flags: flags))
      index += 2 + count
    }
    return functions
  }
}

/// The scripts that were loaded, by their checksums.
final class ScriptHost {
  let machine = LuaMachine()
  private var scripts: [Bytes: ScriptFlags?] = [:]

  func isKnown(_ name: Bytes) -> Bool { scripts[name] != nil }
  func flags(of name: Bytes) -> ScriptFlags? { scripts[name.lowercased] ?? nil }

  /// - Returns: the checksum by which it is called.
  func load(_ script: Bytes) throws(CommandError) -> Bytes {
    let name = SHA1.hexadecimal(script)
    if isKnown(name) { return name }
    let hasLine = script.starts(with: "#!".utf8)
    if hasLine, ScriptFlags(script: script) == nil {
      throw CommandError("ERR Unexpected flag in script shebang")
    }
    let text = hasLine ? Bytes(script.drop { $0 != UInt8(ascii: "\n") }) : script
    let reply = machine.call("load_script", arguments: [name, text])
    if case .error(let problem) = reply { throw CommandError(problem) }
    scripts[name] = .some(ScriptFlags(script: script))
    return name
  }

  func forgetAll() { scripts = [:] }

  func call(_ name: Bytes, keys: [Bytes], arguments: [Bytes]) -> SimulatedReply {
    machine.call("call_script", keys: keys, arguments: arguments + [name])
  }
}
