/// The Lua around Belfry's functions: the table `redis`, and how a function is loaded and called. Redis does the same partly in
/// C (script_lua.c, function_lua.c).
enum LuaPrelude {
  /// `random` is missing, and so is the time of day: nothing that scripts do may depend on chance.
  static let text = """
    local debug_info, load_text = debug.getinfo, loadstring
    local call_redis, pcall_redis, raw_set = call_redis, pcall_redis, rawset
    for _, name in ipairs({ 'call_redis', 'pcall_redis', 'debug', 'print', 'dofile', 'loadfile', 'load', 'gcinfo',
      'newproxy', 'module', 'require', 'package' }) do
      raw_set(_G, name, nil)
    end
    math.random, math.randomseed = nil, nil

    -- An error of Redis is its text to those who catch it.
    local plain_pcall = pcall
    local function unwrap(is_done, problem, ...)
      if not is_done and type(problem) == 'table' and problem.err then problem = problem.err end
      return is_done, problem, ...
    end
    raw_set(_G, 'pcall', function(...) return unwrap(plain_pcall(...)) end)

    -- Names that are missing are refused, in `redis` as well as among the globals.
    local function refuse_missing(_, name)
      error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
    end

    -- Gives an error with the place of the function that raised it.
    local function describe(problem)
      local place = debug_info(2, 'nSl')
      if place and place.what == 'C' then place = debug_info(3, 'nSl') end
      if place and place.source == '@prelude' then place = debug_info(4, 'nSl') end
      if type(problem) ~= 'table' then problem = { err = 'ERR ' .. tostring(problem) } end
      if place then problem.source, problem.line = place.source, place.currentline end
      return problem
    end

    local function answer(is_done, result, name)
      if is_done then return result end
      local text = result.err or 'ERR unknown error'
      if result.source and result.line then
        text = text .. ' script: ' .. name .. ', on ' .. result.source .. ':' .. string.format('%d', result.line) .. '.'
      end
      return { err = text }
    end

    local function make_error(text)
      text = string.gsub(text, '^%-', '')
      return { err = string.find(text, ' ', 1, true) and text or 'ERR ' .. text }
    end

    local running = {
      call = call_redis, pcall = pcall_redis,
      error_reply = make_error,
      status_reply = function(text) return { ok = text } end,
      acl_check_cmd = function() return true end,
      set_repl = function(reach) call_redis('set_repl', reach) end,
      REPL_NONE = 0, REPL_AOF = 1, REPL_SLAVE = 2, REPL_REPLICA = 2, REPL_ALL = 3,
      register_function = function()
        error('redis.register_function can only be called on FUNCTION LOAD command', 0)
      end,
    }

    -- The functions of each library, by name.
    local libraries, loading = {}, nil
    local while_loading = {
      error_reply = running.error_reply, status_reply = running.status_reply,
      register_function = function(name, callback)
        local registered = type(name) == 'table' and name or { function_name = name, callback = callback }
        loading[#loading + 1] = {
          name = registered.function_name, callback = registered.callback, flags = registered.flags or {},
        }
      end,
    }

    -- Loads a library. Gives each function's name, how many flags it has, and the flags.
    local function load_library(keys, arguments)
      local library, text = arguments[1], arguments[2]
      local chunk, problem = load_text(text, '@user_function')
      if not chunk then return { err = 'ERR Error compiling function: ' .. problem } end
      loading = {}
      raw_set(_G, 'redis', while_loading)
      local is_done, result = xpcall(chunk, describe)
      raw_set(_G, 'redis', running)
      local found = loading
      loading = nil
      if not is_done then return { err = 'ERR Error registering functions: ' .. result.err } end
      if not found[1] then return { err = 'ERR No functions registered' } end
      local functions, facts = {}, {}
      for _, each in ipairs(found) do
        functions[each.name] = each.callback
        facts[#facts + 1] = each.name
        facts[#facts + 1] = string.format('%d', #each.flags)
        for _, flag in ipairs(each.flags) do facts[#facts + 1] = flag end
      end
      libraries[library] = functions
      return facts
    end

    local function forget_library(keys, arguments) libraries[arguments[1]] = nil end

    -- Calls a function: the library and the name come behind its own arguments.
    local function call_function(keys, arguments)
      local name, library = table.remove(arguments), table.remove(arguments)
      local callback = libraries[library][name]
      local is_done, result = xpcall(function() return callback(keys, arguments) end, describe)
      return answer(is_done, result, name)
    end

    -- Compiled scripts, by name.
    local scripts = {}

    local function load_script(keys, arguments)
      local name, text = arguments[1], arguments[2]
      local chunk, problem = load_text(text, '@user_script')
      if not chunk then return { err = 'ERR Error compiling script (new function): ' .. problem } end
      scripts[name] = chunk
    end

    local function call_script(keys, arguments)
      local name = table.remove(arguments)
      raw_set(_G, 'KEYS', keys)
      raw_set(_G, 'ARGV', arguments)
      local is_done, result = xpcall(scripts[name], describe)
      return answer(is_done, result, name)
    end

    redis = running
    local entrances = {
      load_library = load_library, forget_library = forget_library, call_function = call_function,
      load_script = load_script, call_script = call_script,
    }
    setmetatable(running, { __index = refuse_missing })
    setmetatable(while_loading, { __index = refuse_missing })
    setmetatable(_G, {
      __index = refuse_missing,
      __newindex = function() error('Attempt to modify a readonly table', 2) end,
    })
    return function(entrance, keys, arguments) return entrances[entrance](keys, arguments) end
    """
}
