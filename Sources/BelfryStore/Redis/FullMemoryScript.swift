import BelfryRedis

/// The functions that free memory as a script. They are needed when the library is gone and Redis, above
/// `maxmemory`, refuses to load it: a script may declare that it runs all the same, and is not refused when
/// it is loaded.
///
/// Each run makes the functions again from the same code, so none of them may rely on values that it kept
/// from the run before.
enum FullMemoryScript {
  /// Instead of registering functions, the script collects those that may run above `maxmemory`: functions that free
  /// memory, and functions that only read. Then it calls the one whose name is the last argument. The library's code is a
  /// function of its own, since Lua has room for 200 local names in each, and the library has nearly as many.
  private static let code: [UInt8] =
    Array(
      """
      #!lua flags=allow-oom
      local collected = {}
      local function collect(registered)
        for _, flag in ipairs(registered.flags) do
          if flag == 'allow-oom' or flag == 'no-writes' then collected[registered.function_name] = registered.callback end
        end
      end
      local redis = setmetatable({ register_function = collect }, { __index = redis })
      local function register_all()

      """.utf8) + FunctionLibrary.functions
    + Array(
      """

      end
      register_all()
      local wanted = collected[table.remove(ARGV)]
      if not wanted then return redis.error_reply('OOM this is not done while memory is full') end
      return wanted(KEYS, ARGV)
      """.utf8)

  /// Loads the script. The reply is the name by which EVALSHA calls it.
  static let load = RedisCommand("SCRIPT", "LOAD", code)

  /// Turns the call of a function into a call of the script.
  static func call(_ call: RedisCommand, as script: String) -> RedisCommand {
    // FCALL, the function, the number of keys, and so on.
    let arguments = call.arguments
    var evaluation = RedisCommand("EVALSHA", script)
    for argument in arguments.dropFirst(2) { evaluation.append(bytes: argument) }
    evaluation.append(bytes: arguments[1])
    return evaluation
  }
}

extension RedisStore {
  /// Repeats calls that found no function as calls of the script, if the library cannot be loaded because
  /// memory is full.
  func callWithoutLibrary(
    _ calls: [RedisCommand], at place: @autoclosure () -> String
  ) async throws(StoreError) -> [RedisReply] {
    let loaded = await redis.sendToAll(FullMemoryScript.load)
    let script = try reading(at: place()) { () throws(RedisError) in
      try loaded.map { loaded throws(RedisError) in try loaded.result.get().string() }.first ?? ""
    }
    return try await pipeline(calls.map { FullMemoryScript.call($0, as: script) }, at: place())
  }
}
