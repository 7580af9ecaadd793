-- Copies, for webhooks and for push. While a partition has readers of them, what is appended to its logs is also appended
-- to one stream, in the order of its ids. A log will not do for that: a personal one loses what is read, and any log what
-- all have read. A reader is a webhook, by its id, or `push`.
--
-- What a reader has had is a hash: `position`, the last id of the copies that is dealt with; `count`, how many copies
-- there had been up to it, by which it is known how many fell out before they were delivered, or `?`; `generation`, which
-- a replay raises; and for each space that is behind a field `behind:<space>`. Whoever delivers holds a lease, a key that
-- ends by itself: who has lost it writes nothing any more.

local function readers_key(prefix) return prefix .. 'copy-readers' end
local function copies_key(prefix) return prefix .. 'copies' end
local function state_key(prefix, reader) return prefix .. 'copies:' .. reader end
local function lease_key(prefix, reader) return prefix .. 'copies-lease:' .. reader end

-- How many copies there have been, how many there are, and the id of the last one.
local function read_copies(prefix)
  local key = copies_key(prefix)
  if redis_call('EXISTS', key) == 0 then return 0, 0, NO_ID end
  local facts, reply = {}, redis_call('XINFO', 'STREAM', key)
  for index = 1, #reply, 2 do facts[reply[index]] = reply[index + 1] end
  return facts['entries-added'], facts['length'], facts['last-generated-id']
end

-- begin_copies: from now on the partition's entries are copied for the reader.
local function begin_copies(keys, arguments)
  local prefix = open_partition(keys)
  local reader = arguments[1]
  if redis_call('SADD', readers_key(prefix), reader) == 0 then return 'known' end
  redis_call('HSET', partition_key(prefix), 'copies', '1')
  local added, _, last = read_copies(prefix)
  redis_call('HSET', state_key(prefix, reader), 'position', last, 'count', string.format('%d', added), 'generation', '1')
  return 'begun'
end

local function end_copies(keys, arguments)
  local prefix = open_partition(keys)
  local reader = arguments[1]
  redis_call('SREM', readers_key(prefix), reader)
  redis_call('UNLINK', state_key(prefix, reader), lease_key(prefix, reader))
  if redis_call('EXISTS', readers_key(prefix)) == 0 then
    redis_call('HDEL', partition_key(prefix), 'copies')
    redis_call('UNLINK', copies_key(prefix))
  end
  return 'ended'
end

-- claim_copies: the lease, for so many milliseconds, if nobody else has it. Gives how many copies there have been and
-- how many there are, the id of the last one, and the state; nothing where another has the lease or there is no reader.
local function claim_copies(keys, arguments)
  local prefix = open_partition(keys)
  local reader, owner, milliseconds = unpack(arguments, 1, 3)
  local lease = lease_key(prefix, reader)
  if (redis_call('GET', lease) or owner) ~= owner then return {} end
  local state = redis_call('HGETALL', state_key(prefix, reader))
  if not state[1] then return {} end
  redis_call('SET', lease, owner, 'PX', milliseconds)
  local added, length, last = read_copies(prefix)
  return { string.format('%d', added), string.format('%d', length), last, state }
end

-- Writes fields of the state, those of the arguments from `first` through `last`, an empty text for one that goes. Nothing
-- is written by who has lost the lease, or has not yet heard of a replay. Gives whether it was written.
local function write_state(prefix, reader, owner, milliseconds, generation, arguments, first, last)
  local lease, state = lease_key(prefix, reader), state_key(prefix, reader)
  if redis_call('GET', lease) ~= owner or redis_call('HGET', state, 'generation') ~= generation then return false end
  if milliseconds == '0' then redis_call('UNLINK', lease) else redis_call('PEXPIRE', lease, milliseconds) end
  local set, removed = {}, {}
  for index = first, last, 2 do
    if arguments[index + 1] == '' then
      removed[#removed + 1] = arguments[index]
    else
      set[#set + 1] = arguments[index]
      set[#set + 1] = arguments[index + 1]
    end
  end
  if set[1] then redis_call('HSET', state, unpack(set)) end
  if removed[1] then redis_call('HDEL', state, unpack(removed)) end
  return true
end

-- save_copies: the state, under the lease, which lasts for so many milliseconds more; with 0 it is given back.
local function save_copies(keys, arguments)
  local prefix = open_partition(keys)
  local reader, owner, milliseconds, generation = unpack(arguments, 1, 4)
  local is_written = write_state(prefix, reader, owner, milliseconds, generation, arguments, 5, #arguments)
  return is_written and 'saved' or 'lost'
end

-- replay_copies: goes back to just before an id, for whatever lies behind it.
local function replay_copies(keys, arguments)
  local prefix = open_partition(keys)
  local reader, from = unpack(arguments, 1, 2)
  local key = state_key(prefix, reader)
  local position = redis_call('HGET', key, 'position')
  if not position then return 'unknown' end
  redis_call('HINCRBY', key, 'generation', 1)
  if is_before(from, position) then redis_call('HSET', key, 'position', from, 'count', '?') end
  -- A space that is behind is due at once, from where it is or from there, whichever is earlier.
  local reply = redis_call('HGETALL', key)
  for index = 1, #reply, 2 do
    if string.sub(reply[index], 1, 7) == 'behind:' then
      local at = string.match(reply[index + 1], '^%S+')
      if is_before(from, at) then
        redis_call('HDEL', key, reply[index])
      else
        redis_call('HSET', key, reply[index], at .. ' 0 0')
      end
    end
  end
  return 'replayed'
end

register('begin_copies', begin_copies)
register('end_copies', end_copies, FREES_MEMORY)
register('claim_copies', claim_copies, FREES_MEMORY)
register('save_copies', save_copies, FREES_MEMORY)
register('replay_copies', replay_copies, FREES_MEMORY)
