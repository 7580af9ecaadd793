import CLua

/// An interpreter of Lua 5.1, as in Redis. All unsafe code of the simulated Redis is here: it moves texts between Swift and
/// Lua's stack.
///
/// Lua reports errors by a jump that must not pass functions of Swift. So Swift runs Lua code by `lua_pcall` alone, and Lua
/// calls Swift through C (see CLua), which raises errors after Swift has returned. Lua has no memory to run out of, as far as
/// tests are concerned.
@safe final class LuaMachine {
  private let lua: OpaquePointer
  /// Carries out a command of a script.
  var onCall: (([Bytes]) -> SimulatedReply)?

  init() {
    // SAFETY: the machine outlives its state, which `deinit` closes, and nothing else keeps the pointer.
    let context = Box()
    guard let lua = unsafe lua_machine_new(answerLuaCall, Unmanaged.passUnretained(context).toOpaque()) else {
      preconditionFailure("no memory for Lua")
    }
    unsafe self.lua = lua
    box = context
    context.machine = self
    start()
  }

  deinit { unsafe lua_close(lua) }

  /// The object that Lua's state points to. It exists before the machine does.
  private let box: Box

  fileprivate final class Box {
    weak var machine: LuaMachine?
  }

  /// Runs the prelude, whose result is the function through which everything is called.
  private func start() {
    let prelude = Bytes(LuaPrelude.text.utf8)
    let isLoaded = unsafe prelude.withUnsafeBytes { bytes in
      unsafe luaL_loadbuffer(lua, bytes.baseAddress, bytes.count, "@prelude") == 0
    }
    let isRun = unsafe isLoaded && lua_pcall(lua, 0, 1, 0) == 0
    precondition(isRun, "the prelude fails: \(String(decoding: text(at: -1), as: UTF8.self))")
  }

  /// Calls one of the prelude's functions. An error of Lua becomes an error reply.
  func call(_ entrance: String, keys: [Bytes] = [], arguments: [Bytes]) -> SimulatedReply {
    // The stack has the prelude's function, and nothing else between two calls.
    unsafe lua_pushvalue(lua, 1)
    push(Bytes(entrance.utf8))
    push(.bulks(keys))
    push(.bulks(arguments))
    let status = unsafe lua_pcall(lua, 3, 1, 0)
    let reply = status == 0 ? self.reply(at: -1, depth: 0) : .error(Bytes("ERR ".utf8) + text(at: -1))
    unsafe lua_machine_pop(lua, 1)
    return reply
  }

  /// Writes a number with 17 digits.
  static func text(of number: Double) -> Bytes {
    var digits = [CChar](repeating: 0, count: 64)
    let count = unsafe lua_machine_write_number(number, &digits)
    return digits.prefix(Int(count)).map { UInt8(bitPattern: $0) }
  }
}

// MARK: From Swift to Lua

extension LuaMachine {
  private func push(_ text: Bytes) {
    unsafe text.withUnsafeBytes { bytes in
      unsafe lua_pushlstring(lua, bytes.baseAddress, bytes.count)
    }
  }

  /// Pushes a reply as Redis gives it to scripts: null is false, and a status or an error is a table.
  fileprivate func push(_ reply: SimulatedReply) {
    unsafe luaL_checkstack(lua, 8, "nested replies")
    switch reply {
    case .integer(let number): unsafe lua_pushnumber(lua, Double(number))
    case .bulk(let text): push(text)
    case .null, .nullArray: unsafe lua_pushboolean(lua, 0)
    case .status(let text): push(text, as: "ok")
    case .error(let text): push(text, as: "err")
    case .array(let elements):
      unsafe lua_createtable(lua, Int32(elements.count), 0)
      for (index, element) in elements.enumerated() {
        push(element)
        unsafe lua_rawseti(lua, -2, Int32(index + 1))
      }
    }
  }

  private func push(_ text: Bytes, as field: String) {
    unsafe lua_createtable(lua, 0, 1)
    push(text)
    unsafe lua_setfield(lua, -2, field)
  }
}

// MARK: From Lua to Swift

extension LuaMachine {
  /// Replies that are nested deeper are a fault of the script.
  private static let depthMax = 100

  private func text(at index: Int32) -> Bytes {
    var count = 0
    guard let start = unsafe lua_tolstring(lua, index, &count) else { return [] }
    return unsafe Bytes(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Reads a value as Redis makes it a reply: a number loses its fraction, and an array ends at the first nil.
  private func reply(at index: Int32, depth: Int) -> SimulatedReply {
    guard depth < Self.depthMax, unsafe lua_checkstack(lua, 8) != 0 else {
      return .error(Bytes("ERR reached lua stack limit".utf8))
    }
    switch unsafe lua_type(lua, index) {
    case LUA_TSTRING: return .bulk(text(at: index))
    case LUA_TNUMBER:
      // A number beyond all integers becomes the lowest one, as on the processors that Redis runs on.
      let number = unsafe lua_tonumber(lua, index)
      return .integer(number.magnitude < 0x1p63 ? Int64(number) : .min)
    case LUA_TBOOLEAN: return unsafe lua_toboolean(lua, index) != 0 ? .integer(1) : .null
    case LUA_TTABLE:
      if let text = field("err", at: index) { return .error(text) }
      if let text = field("ok", at: index) { return .status(text) }
      return .array(elements(at: index, depth: depth))
    default: return .null
    }
  }

  private func field(_ name: String, at index: Int32) -> Bytes? {
    push(Bytes(name.utf8))
    unsafe lua_rawget(lua, index - 1)
    defer { unsafe lua_machine_pop(lua, 1) }
    return unsafe lua_type(lua, -1) == LUA_TSTRING ? text(at: -1) : nil
  }

  private func elements(at index: Int32, depth: Int) -> [SimulatedReply] {
    var elements: [SimulatedReply] = []
    while true {
      unsafe lua_rawgeti(lua, index, Int32(elements.count + 1))
      defer { unsafe lua_machine_pop(lua, 1) }
      if unsafe lua_type(lua, -1) == LUA_TNIL { return elements }
      elements.append(reply(at: -1, depth: depth + 1))
    }
  }

  /// Answers `redis.call`: takes the arguments from the stack, and pushes the reply.
  fileprivate func answerCall() -> Int32 {
    var digits = [CChar](repeating: 0, count: 64)
    var arguments: [Bytes] = []
    for index in 0..<(unsafe lua_gettop(lua)) {
      var count = 0
      guard let start = unsafe lua_machine_argument(lua, index + 1, &digits, &count) else {
        push(.error(Bytes("ERR Lua redis lib command arguments must be strings or integers".utf8)))
        return 1
      }
      arguments.append(unsafe Bytes(UnsafeRawBufferPointer(start: start, count: count)))
    }
    let reply = onCall?(arguments) ?? .null
    push(reply)
    return reply.isError ? 1 : 0
  }
}

// SAFETY: the context is the box of the machine whose state calls.
private func answerLuaCall(_ context: UnsafeMutableRawPointer?, _ lua: OpaquePointer?) -> Int32 {
  guard let context = unsafe context else { return 0 }
  let box = unsafe Unmanaged<LuaMachine.Box>.fromOpaque(context).takeUnretainedValue()
  return box.machine?.answerCall() ?? 0
}
