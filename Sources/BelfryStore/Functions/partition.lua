-- The keys and channels of a partition, by name. RedisLayout.swift makes the same names in Swift; no third
-- place does. `prefix` is the part that they all share, `belfry:{<hash tag>}:`. Every function receives it as
-- the name of the hash of the partition, its one declared key: the others have the same hash tag and so the
-- same slot.

local function partition_key(prefix) return prefix .. 'partition' end
local function log_key(prefix, space) return prefix .. 'log:' .. space end
local function table_key(prefix, space, name) return prefix .. name .. ':' .. space end
local function dedupe_key(prefix, bucket) return prefix .. 'dedupe:' .. bucket end
local function outbox_key(prefix) return prefix .. 'outbox' end
local function spaces_key(prefix, account) return prefix .. 'spaces:' .. account end
local function read_key(prefix, account) return prefix .. 'read:' .. account end
local function account_key(prefix, account) return prefix .. 'account:' .. account end
local function delivered_key(prefix, account) return prefix .. 'delivered:' .. account end
local function invitations_key(prefix, account) return prefix .. 'invitations:' .. account end
local function shares_key(prefix, account) return prefix .. 'shares:' .. account end
local function directory_key(prefix, name) return prefix .. 'directory:' .. name end
local function wake_key(prefix) return prefix .. 'wake' end
local function active_key(prefix, slice) return prefix .. 'active:' .. string.format('%d', slice) end
local function pushers_key(prefix, account) return prefix .. 'pushers:' .. account end
local function accounts_pushed_key(prefix) return prefix .. 'pushed' end
local function badges_key(prefix) return prefix .. 'badges' end
local function corrections_key(prefix) return prefix .. 'corrections' end
local function pushes_key(prefix) return prefix .. 'pushes' end
local function live_channel(prefix, space) return prefix .. 'live:' .. space end
local function personal_space(account) return 'account:' .. account end

-- These functions are used again and again, so each is looked up once: a lookup each time costs a tenth of
-- Redis's own work. They do not exist yet when the library is loaded.
local redis_call, redis_pcall, byte_of, is_found
redis_call = function(...) return redis.call(...) end

-- The partitions that were opened in this process. They are remembered because parsing a key costs as much as
-- a call of Redis.
local known_partitions = {}

-- Gives the known facts of the partition: `prefix`, `number`, and values that functions remember of it.
local function know_partition(keys)
  if not is_found then redis_call, redis_pcall, byte_of, is_found = redis.call, redis.pcall, string.byte, true end
  local key = keys[1] or ''
  local known = known_partitions[key]
  if known then return known end
  local prefix, number = string.match(key, '^(belfry:{(%d+)%.%d+}:)partition$')
  if not prefix then error('belfry: the first key must be the hash of a partition') end
  known = { prefix = prefix, number = tonumber(number) }
  known_partitions[key] = known
  return known
end

-- The hash of each partition is made with the keyspace and never removed, `last` included. If it is missing,
-- it is elsewhere: a slot of a cluster was on its way to another node, the hash had arrived there, and the
-- node that knew of that has failed. A write here, or an answer that something is not found, would then
-- contradict the other node. So a function does neither.
local function refuse_incomplete_partition()
  error('belfry: the partition is incomplete: its hash is missing, and may be at another node', 0)
end

-- Gives the prefix of the partition, which must be complete. For functions that would not read its hash
-- otherwise. One call.
local function open_partition(keys)
  local known = know_partition(keys)
  if redis_call('HEXISTS', keys[1], 'last') == 0 then refuse_incomplete_partition() end
  return known.prefix
end

-- The keys of spaces that were sent to lately, up to this number: building a key costs as much as half a call
-- of Redis.
local KNOWN_SPACES_MAX = 2048
local known_spaces, known_space_count = {}, 0

-- Gives the keys of the space that a send needs, and its live channel.
local function keys_of_space(prefix, space)
  local known = known_spaces[space]
  if known and known.prefix == prefix then return known end
  if known_space_count == KNOWN_SPACES_MAX then known_spaces, known_space_count = {}, 0 end
  known = {
    prefix = prefix, settings = table_key(prefix, space, 'settings'), roster = table_key(prefix, space, 'roster'),
    log = log_key(prefix, space), channel = live_channel(prefix, space),
  }
  known_spaces[space], known_space_count = known, known_space_count + 1
  return known
end

-- Redis's `unpack` puts every argument on Lua's stack, which holds 8,000.
local ARGUMENTS_PER_CALL = 1000

-- Calls the command on as many arguments at a time as the stack holds; gives the sum of the replies.
local function call_in_chunks(command, key, arguments)
  local sum = 0
  for first = 1, #arguments, ARGUMENTS_PER_CALL do
    local last = math.min(first + ARGUMENTS_PER_CALL - 1, #arguments)
    sum = sum + redis_call(command, key, unpack(arguments, first, last))
  end
  return sum
end

-- Reads the fields of a hash, with `false` for each that is not there.
local function read_fields(key, fields)
  if #fields <= ARGUMENTS_PER_CALL then return redis_call('HMGET', key, unpack(fields)) end
  local found = {}
  for first = 1, #fields, ARGUMENTS_PER_CALL do
    local last = math.min(first + ARGUMENTS_PER_CALL - 1, #fields)
    for index, text in ipairs(redis_call('HMGET', key, unpack(fields, first, last))) do
      found[first + index - 1] = text
    end
  end
  return found
end

-- Redis keeps a small hash as a list, and searches it from the beginning for each field. Each send reads this
-- hash, so it has to be a table from the first field on. One long text makes it a table.
local LONG_TEXT = '-----------------------------------------------------------------'

local function make_table(key) redis_call('HSET', key, '', LONG_TEXT) end

-- Gives an outcome with the error that Redis gave.
local function failed(problem)
  local text = type(problem) == 'table' and problem.err or tostring(problem)
  return 'failed ' .. string.gsub(text, '[\r\n]', ' ')
end

local function register(name, callback, flags)
  redis.register_function({
    function_name = 'belfry_' .. name .. '_' .. VERSION, callback = callback, flags = flags or {},
  })
end

-- The flags of a function that frees memory, or is the way to free it. It must go on above maxmemory, or the
-- store would stay full until an operator came. It may write only little meanwhile.
local FREES_MEMORY = { 'allow-oom' }
