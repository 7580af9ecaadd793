-- Copies, for webhooks and for push. While a partition has readers of copies, each entry that is appended to
-- one of its logs is also appended to one stream, in the order of ids. The logs alone would not do: a
-- personal log loses the entries that its account has read, and any log loses the entries that all members
-- have read. A reader is a webhook, named by its id, or `push`.
--
-- The state of a reader is a hash. `position` is the last id of the copies that is dealt with. `count` is the
-- number of copies up to that position, or `?`; it shows how many copies fell out before they were delivered.
-- `generation` is raised by a replay. A broker that delivers holds a lease, which is a key that expires by
-- itself. A broker that has lost the lease writes nothing any more. `replay` is the id that a replay goes back
-- to, while it has not gone back in every space that is behind; nobody takes the lease until then.
--
-- Some copies up to the position wait, because an earlier copy of their space could not be delivered. The
-- hash `copies-behind` has a field for each such space: how often the first copy was tried, the id from which
-- on further copies of the space have to be looked for (`-`: all are here), and the ids of the first copies.
-- There may be thousands of such spaces. So that nobody has to read all of them, `copies-due` sorts them by
-- the time at which they are due, and `copies-waiting` by the time since which their oldest copy waits.

local function readers_key(prefix) return prefix .. 'copy-readers' end
local function copies_key(prefix) return prefix .. 'copies' end
local function state_key(prefix, reader) return prefix .. 'copies:' .. reader end
local function lease_key(prefix, reader) return prefix .. 'copies-lease:' .. reader end
local function behind_key(prefix, reader) return prefix .. 'copies-behind:' .. reader end
local function due_key(prefix, reader) return prefix .. 'copies-due:' .. reader end
local function waiting_key(prefix, reader) return prefix .. 'copies-waiting:' .. reader end

-- Reads how many copies there have been, how many there are, and the id of the last one.
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
  redis_call('UNLINK', state_key(prefix, reader), lease_key(prefix, reader), behind_key(prefix, reader),
    due_key(prefix, reader), waiting_key(prefix, reader))
  if redis_call('EXISTS', readers_key(prefix)) == 0 then
    redis_call('HDEL', partition_key(prefix), 'copies')
    redis_call('UNLINK', copies_key(prefix))
  end
  return 'ended'
end

-- Writes the copies that wait in a space that is behind. An empty text says that the space is not behind any
-- more. With an empty `due` the time at which it is due stays the same.
local function write_behind(prefix, reader, space, held, due, waiting)
  local behind, dues, waits = behind_key(prefix, reader), due_key(prefix, reader), waiting_key(prefix, reader)
  if held == '' then
    redis_call('HDEL', behind, space)
    redis_call('ZREM', dues, space)
    redis_call('ZREM', waits, space)
  else
    redis_call('HSET', behind, space, held)
    if due ~= '' then redis_call('ZADD', dues, due, space) end
    redis_call('ZADD', waits, waiting, space)
  end
end

-- Goes back within the waiting copies of a space: all copies after the id are read again. Gives nothing if no
-- copy is left before them.
local function rewind_held(held, from)
  local rest, ids = string.match(held, '^%d+ (%S+)(.*)$')
  -- The places of the ids, each after a space. To make texts of all of them would take longer than all else.
  local places, place = {}, string.find(ids, ' ', 1, true)
  while place do
    places[#places + 1] = place
    place = string.find(ids, ' ', place + 1, true)
  end
  -- They are in order.
  local kept, beyond = 0, #places + 1
  while kept + 1 < beyond do
    local middle = math.floor((kept + beyond) / 2)
    if is_before(from, string.match(ids, '^ (%S+)', places[middle])) then beyond = middle else kept = middle end
  end
  if rest ~= '-' and is_before(from, rest) then rest = '-' end
  if rest == '-' and kept == 0 then return '' end
  return '0 ' .. rest .. string.sub(ids, 1, (places[kept + 1] or #ids + 1) - 1)
end

-- Redis does nothing else while a replay goes back in the spaces that are behind. So one call does so many.
local SPACES_PER_CALL = 100

-- Goes back in some of the spaces that are behind, if a replay has not done so in all of them. Gives true if none
-- is left. A space becomes due at once. It starts from its present place or from the place of the replay, the
-- earlier of the two. Its time is below zero, and so lower than that of each space that the replay has yet to reach.
local function continue_replay(prefix, reader)
  local state, dues = state_key(prefix, reader), due_key(prefix, reader)
  local from, generation = unpack(redis_call('HMGET', state, 'replay', 'generation'))
  if not from then return true end
  local time = '-' .. generation
  local spaces = redis_call('ZRANGE', dues, '(' .. time, '+inf', 'BYSCORE', 'LIMIT', 0, SPACES_PER_CALL)
  for _, space in ipairs(spaces) do
    local held = redis_call('HGET', behind_key(prefix, reader), space)
    held = held and rewind_held(held, from) or ''
    local waiting = held ~= '' and redis_call('ZSCORE', waiting_key(prefix, reader), space) or '0'
    write_behind(prefix, reader, space, held, time, waiting)
  end
  if spaces[SPACES_PER_CALL] then return false end
  redis_call('HDEL', state, 'replay')
  return true
end

-- claim_copies: takes the lease for so many milliseconds, if nobody else has it. Gives how many copies there
-- have been and how many there are, the id of the last one, how many spaces are behind, and the state. Gives
-- nothing if another broker has the lease, if there is no reader, or while a replay goes on. The caller carries
-- on with the replay: the broker that began it may have died.
local function claim_copies(keys, arguments)
  local prefix = open_partition(keys)
  local reader, owner, milliseconds = unpack(arguments, 1, 3)
  local lease = lease_key(prefix, reader)
  if (redis_call('GET', lease) or owner) ~= owner then return {} end
  if not continue_replay(prefix, reader) then return {} end
  local state = redis_call('HGETALL', state_key(prefix, reader))
  if not state[1] then return {} end
  redis_call('SET', lease, owner, 'PX', milliseconds)
  local added, length, last = read_copies(prefix)
  local behind = redis_call('HLEN', behind_key(prefix, reader))
  return { string.format('%d', added), string.format('%d', length), last, behind, state }
end

-- Writes fields of the state, those of the arguments from `first` through `last`. An empty text removes the
-- field. Nothing is written if the caller has lost the lease, or has not yet heard of a replay. Returns true
-- if the fields were written.
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

-- save_copies: writes the state, under the lease, which lasts for so many milliseconds more; 0 gives the
-- lease back. After the texts of the state, whose number is given, come four arguments for each space that is
-- behind, or was: the space, the copies that wait, when the space is due, and since when it waits.
local function save_copies(keys, arguments)
  local prefix = open_partition(keys)
  local reader, owner, milliseconds, generation, count = unpack(arguments, 1, 5)
  local last = 5 + tonumber(count)
  if not write_state(prefix, reader, owner, milliseconds, generation, arguments, 6, last) then return 'lost' end
  for index = last + 1, #arguments, 4 do write_behind(prefix, reader, unpack(arguments, index, index + 3)) end
  return 'saved'
end

-- hasten_copies: makes every space that is behind due at once.
local function hasten_copies(keys, arguments)
  local prefix = open_partition(keys)
  local dues, words = due_key(prefix, arguments[1]), {}
  for _, space in ipairs(redis_call('ZRANGE', dues, '(0', '+inf', 'BYSCORE')) do
    words[#words + 1] = '0'
    words[#words + 1] = space
  end
  call_in_chunks('ZADD', dues, words)
  return 'hastened'
end

-- replay_copies: goes back to just before an id, so that the reader gets all copies after it again. Gives `more`
-- if it is to be called again, without an id, to go on.
local function replay_copies(keys, arguments)
  local prefix = open_partition(keys)
  local reader, from = unpack(arguments, 1, 2)
  local key = state_key(prefix, reader)
  local position, before = unpack(redis_call('HMGET', key, 'position', 'replay'))
  if not position then return 'unknown' end
  if from ~= '' then
    -- A replay that is under way may go back further.
    if before and is_before(before, from) then from = before end
    redis_call('HINCRBY', key, 'generation', 1)
    redis_call('HSET', key, 'replay', from)
    if is_before(from, position) then redis_call('HSET', key, 'position', from, 'count', '?') end
  end
  return continue_replay(prefix, reader) and 'replayed' or 'more'
end

register('begin_copies', begin_copies)
register('end_copies', end_copies, FREES_MEMORY)
register('claim_copies', claim_copies, FREES_MEMORY)
register('save_copies', save_copies, FREES_MEMORY)
register('hasten_copies', hasten_copies, FREES_MEMORY)
register('replay_copies', replay_copies, FREES_MEMORY)
