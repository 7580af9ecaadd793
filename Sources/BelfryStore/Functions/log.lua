-- Logs and what is said on live channels.

local function publish(prefix, space, message) redis.call('SPUBLISH', live_channel(prefix, space), message) end

-- Said when all is done, in this order over all spaces: a consumer has one place in a partition, and what it hears
-- after a later id of another space lies behind that place. Only what one space is told in a row is one message.
--
-- A message comes in pieces: Redis's Lua hashes each string it makes from its first byte to its last, half a
-- microsecond for a notification, so what is put together is put together once.
local function say(partition, space, ...)
  local said = partition.said[#partition.said]
  if not said or said.space ~= space then
    said = { space = space, count = 0, 'several\n' }
    partition.said[#partition.said + 1] = said
  end
  if said.count > 0 then said[#said + 1] = '\n' end
  said.count = said.count + 1
  for _, piece in ipairs({ ... }) do said[#said + 1] = piece end
end

-- One call for each message.
local function publish_said(partition)
  for _, said in ipairs(partition.said) do
    publish(partition.prefix, said.space, table.concat(said, '', said.count > 1 and 1 or 2))
  end
end

-- Redis gives a log's first entry room for 4 KiB, and a direct message never has a second one: a copy has just what
-- the entry takes.
local function make_compact(key)
  local copy = key .. ':copy'
  redis.call('COPY', key, copy)
  redis.call('RENAME', copy, key)
end

-- The id just before a stream id.
local function predecessor_of(id)
  local ms, low = parse_id(id)
  if low > 0 then return string.format('%d-%d', ms, low - 1) end
  return string.format('%d-%d', ms - 1, PER_MS - 1)
end

-- Redis trims by whole nodes, of a hundred entries at most.
local NODE_ENTRIES = 100

-- Trims a log, by whole nodes: to cut into one would move its rest for no gain. Gives up to where entries are lost, nil
-- if none were trimmed. One call if there is nothing to trim.
local function trim(prefix, space, strategy, bound, last)
  local key, through = log_key(prefix, space), '+'
  if strategy == 'MINID' then
    through = '(' .. bound
  elseif redis.call('XLEN', key) <= tonumber(bound) then
    return nil
  end
  -- Which entry is the last that goes is known only from how many go: a reader who had come just as far has lost
  -- nothing. Of more than a node's, the id before the first that stays must do.
  local oldest = redis.call('XRANGE', key, '-', through, 'COUNT', NODE_ENTRIES)
  if not oldest[1] then return nil end
  local count = redis.call('XTRIM', key, strategy, '~', bound)
  if count == 0 then return nil end
  if oldest[count] then return oldest[count][1] end
  local first = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  return first and predecessor_of(first[1]) or last
end

-- After one of so many entries a log is held to its length: to look each time would cost each send a call. Which one it
-- is the microseconds of the time say, so that no regularity of sends can always evade it; not the milliseconds of the
-- ids, which stand still while the clock is behind them.
local ENTRIES_PER_TRIM = 32

-- An id names its partition, not its space. Which spaces have an entry in a stretch of time, some 17 minutes, a set
-- says: there whoever knows no more than an id looks for it. What ends it is its age: two hours more than what is kept,
-- for the stretch itself and for clocks that are set.
local BUCKET_MS = 1048576
local ACTIVE_KEPT_MS = 7200000

local function time_bucket(ms) return math.floor(ms / BUCKET_MS) end

-- Two calls for the first entry of a space in a stretch, and none for others. `last` is the entry before it.
local function note_active(partition, space, id, last)
  local entered = partition.bucket_of[space] or time_bucket((parse_id(last)))
  -- No id is later than the last one of the partition.
  if entered ~= time_bucket(partition.ms) then
    local bucket = time_bucket((parse_id(id)))
    if bucket ~= entered then
      local key = active_key(partition.prefix, bucket)
      redis.call('SADD', key, space)
      redis.call('PEXPIRE', key, partition.retention + ACTIVE_KEPT_MS, 'NX')
      entered = bucket
    end
  end
  partition.bucket_of[space] = entered
end

-- Appends an entry of these fields; gives the one before it. One call, and two more for the first entry of a space,
-- two for its first in a stretch of time.
local function append(partition, space, id, entries_max, ...)
  local key, last = log_key(partition.prefix, space), partition.last_of[space]
  redis.call('XADD', key, id, ...)
  note_active(partition, space, id, last)
  partition.last_of[space] = id
  partition.changed[space] = true
  partition.appended = partition.appended + 1
  -- A mailbox is kept short by refusing what would be too much, so that nothing unread gives way.
  if partition.appended % ENTRIES_PER_TRIM == 0 and string.sub(space, 1, 8) ~= 'account:' then
    partition.lost_of[space] = trim(partition.prefix, space, 'MAXLEN', entries_max, id) or partition.lost_of[space]
  end
  if last == NO_ID then make_compact(key) end
  return last
end

-- Appends an entry and says so; only says so if it is not to be stored.
local function announce(partition, space, id, audience, notification, is_stored, entries_max)
  if not is_stored then return say(partition, space, 'ephemeral ', id, '\n', audience, '\n', notification) end
  local last = append(partition, space, id, entries_max, 'audience', audience, 'notification', notification)
  say(partition, space, 'appended ', id, ' ', last, '\n', audience, '\n', notification)
end

-- The same with what an entry has become. It is an entry of the log itself, so that whoever is away, or reads the log
-- for another reason, learns of it as of any other.
local function announce_update(partition, space, id, updated, time, audience, notification, entries_max)
  local last = append(partition, space, id, entries_max,
    'updates', updated, 'updateTime', time, 'audience', audience, 'notification', notification)
  say(partition, space, 'updated ', id, ' ', last, ' ', updated, ' ', time, '\n', audience, '\n', notification)
end

-- locate: a step through the spaces that may have the entry. Gives where to go on, and the space if it was found.
-- Three calls, and one for each of the spaces that have had an entry as late as that.
local function locate(keys, arguments)
  local prefix = open_partition(keys)
  local id, cursor, count = unpack(arguments, 1, 3)
  local reply = redis.call('SSCAN', active_key(prefix, time_bucket((parse_id(id)))), cursor, 'COUNT', count)
  local spaces = reply[2]
  for first = 1, #spaces, ARGUMENTS_PER_CALL do
    local last = math.min(first + ARGUMENTS_PER_CALL - 1, #spaces)
    local ends = redis.call('HMGET', partition_key(prefix), unpack(spaces, first, last))
    for index, log_end in ipairs(ends) do
      local space = spaces[first + index - 1]
      -- What was lost of a log stands behind its last entry.
      if log_end and not is_before(string.match(log_end, '^%S+'), id)
        and redis.call('XRANGE', log_key(prefix, space), id, id, 'COUNT', 1)[1]
      then
        return { '0', space }
      end
    end
  end
  return { reply[1], '' }
end

register('locate', locate, { 'no-writes' })
