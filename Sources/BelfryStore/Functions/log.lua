-- Logs, and the messages of live channels.

-- Gives the first line of each message: the history in which it is published. A master that a replica has replaced may
-- carry out calls before it learns of that. Nobody will find what they write, but Redis Cluster passes their messages on to
-- the listeners of the new master.
local first_line

local function origin_line()
  first_line = first_line or 'from ' .. current_history()
  return first_line
end

local function publish(prefix, space, message)
  redis_call('SPUBLISH', live_channel(prefix, space), origin_line() .. '\n' .. message)
end

-- Messages for live channels are published at the end of a call, in this order over all spaces: a consumer
-- has one position in a partition, and would pass over a message that comes after a later id. Consecutive
-- messages of a space become one.
--
-- A message is kept in lines and joined once: Lua hashes each string that it makes, which takes half a
-- microsecond for a notification. Joining is fast up to the size of Lua's buffer (LUAL_BUFFERSIZE), so a
-- longer text becomes another message.
local MESSAGE_BYTES = 8000

local function say(messages, space, header, line)
  local message, bytes = messages[#messages], #header + #(line or '') + 2
  if not message or message.space ~= space or message.bytes + bytes > MESSAGE_BYTES then
    message = { space = space, count = 0, bytes = 0, origin_line(), 'several' }
    messages[#messages + 1] = message
  end
  message.count, message.bytes = message.count + 1, message.bytes + bytes
  message[#message + 1] = header
  message[#message + 1] = line
end

-- One call for each message.
local function publish_said(prefix, messages)
  for _, message in ipairs(messages) do
    if message.count == 1 then table.remove(message, 2) end
    redis_call('SPUBLISH', live_channel(prefix, message.space), table.concat(message, '\n'))
  end
end

-- Gives the lines of a message that an entry was appended, except for the last line, the notification.
local function appended_header(id, last, audience) return 'appended ' .. id .. ' ' .. last .. '\n' .. audience end

-- Gives all lines of a message that has no other entry, put together once.
local function appended_message(id, last, audience, notification)
  return origin_line() .. '\nappended ' .. id .. ' ' .. last .. '\n' .. audience .. '\n' .. notification
end

-- Gives the same for so many entries whose ids follow one another: the first one's id, and the one before
-- that.
local function run_header(id, last, count, audience)
  return 'run ' .. id .. ' ' .. last .. ' ' .. count .. '\n' .. audience
end

-- Redis allots 4 KiB with a log's first entry, and a direct message never gets a second one. A copy of the
-- key takes only as much as the entry needs.
local function make_compact(key)
  local copy = key .. ':copy'
  -- A copy may be left of a call that ended here.
  redis_call('COPY', key, copy, 'REPLACE')
  redis_call('RENAME', copy, key)
end

-- Gives the id just before a stream id.
local function predecessor_of(id)
  local ms, low = parse_id(id)
  if low > 0 then return string.format('%d-%d', ms, low - 1) end
  return string.format('%d-%d', ms - 1, PER_MS - 1)
end

-- Redis trims by whole nodes, of a hundred entries at most.
local NODE_ENTRIES = 100

-- Trims a log by whole nodes, which frees memory without moving entries. Returns the id up to which entries
-- are lost, nil if none were trimmed.
--
-- Redis only says how many entries went, so the last one of them is found by counting: `oldest` has the first
-- entries, as many as were read. A reader who stands at the last one has lost nothing. If more entries went
-- than were read, the id before the first remaining entry is returned instead.
local function trim(key, strategy, bound, oldest, last)
  local count = redis_call('XTRIM', key, strategy, '~', bound)
  if count == 0 then return nil end
  if oldest[count] then return oldest[count][1] end
  local first = redis_call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  return first and predecessor_of(first[1]) or last
end

-- Trims entries before the id `floor` from a log. One call if there is nothing to trim, and two if it is less
-- than a node.
local function trim_to_age(prefix, space, floor, last)
  local key = log_key(prefix, space)
  local oldest = redis_call('XRANGE', key, '-', '(' .. floor, 'COUNT', NODE_ENTRIES)
  return oldest[1] and trim(key, 'MINID', floor, oldest, last)
end

-- Trims a log to so many entries. Reading an entry costs half as much as sending one of many, so after many
-- entries none is read. A mailbox is not trimmed: it is kept short by refusing new entries, so that no unread
-- entry is lost. One call if there is nothing to trim.
local function trim_to_length(prefix, space, entries_max, last, is_after_many)
  if string.sub(space, 1, 8) == 'account:' then return nil end
  local key = log_key(prefix, space)
  local excess = redis_call('XLEN', key) - entries_max
  if excess <= 0 then return nil end
  local oldest = is_after_many and {} or redis_call('XRANGE', key, '-', '+', 'COUNT', math.min(excess, NODE_ENTRIES))
  return trim(key, 'MAXLEN', entries_max, oldest, last)
end

-- A log is trimmed to its length after one of so many entries, since each check costs a call, and once for
-- all entries of a call. The microseconds of the time decide which entry that is, so that no regular pattern
-- of sends always evades it.
local ENTRIES_PER_TRIM = 32

-- True if a log is trimmed after one of these entries. `number` is that of the last one.
local function is_trim_due(number, count) return number % ENTRIES_PER_TRIM < count end

-- An id names its partition, not its space. For each slice of time, some 17 minutes, a set holds the spaces
-- that have an entry in it. A caller that knows only an id looks for the space there. The set expires by age:
-- two hours after retention, which allows for the slice itself and for clocks that are set.
local SLICE_MS = 1048576
local ACTIVE_KEPT_MS = 7200000

local latest_from, latest_to, latest = 0, 0, 0

local function time_slice(ms)
  if ms >= latest_from and ms < latest_to then return latest end
  local slice = math.floor(ms / SLICE_MS)
  -- A slice that is long past is asked for only once, so it is not remembered.
  if slice > latest then latest, latest_from, latest_to = slice, slice * SLICE_MS, (slice + 1) * SLICE_MS end
  return slice
end

-- Notes that the space has an entry in this slice. Two calls.
local function note_active(prefix, space, slice, retention)
  local key = active_key(prefix, slice)
  redis_call('SADD', key, space)
  redis_call('PEXPIRE', key, retention + ACTIVE_KEPT_MS, 'NX')
end

-- While the partition has readers of copies, each entry that is appended is also added to one stream, in the
-- order of ids (see copies.lua). The sweep trims that stream, as it does logs: an id may be ahead of the time
-- by as much as a clock was. One call.
local function copy_entry(prefix, space, id, ...)
  redis_call('XADD', prefix .. 'copies', id, 'space', space, ...)
end

-- Upkeep after the first entry of a log in a slice of time: notes the space as active in it, and compacts the log at its
-- first entry of all. `last` is the entry before.
local function begin_slice(prefix, space, slice, last, retention)
  note_active(prefix, space, slice, retention)
  if last == NO_ID then make_compact(log_key(prefix, space)) end
end

-- Trims the logs that were appended to in this call, each once. A trim that fails is tried again with later
-- entries.
local function trim_appended(partition, entries_max)
  for space in pairs(partition.to_trim) do
    local is_after_many = partition.count_of[space] >= ENTRIES_PER_TRIM
    local is_trimmed, lost = pcall(
      trim_to_length, partition.prefix, space, entries_max, partition.last_of[space], is_after_many)
    if is_trimmed and lost then partition.lost_of[space] = lost end
  end
end

-- Appends an entry of these fields; gives the entry before it. One call, and those of `begin_slice`.
local function append(partition, space, id, ...)
  local prefix, last = partition.prefix, partition.last_of[space]
  redis_call('XADD', log_key(prefix, space), id, ...)
  if partition.copies then copy_entry(prefix, space, id, ...) end
  partition.appended = partition.appended + 1
  local last_slice = partition.slice_of[space] or time_slice(ms_of(last))
  -- No id is later than the last one of the partition.
  local slice = last_slice == time_slice(partition.ms) and last_slice or time_slice(ms_of(id))
  if slice ~= last_slice then begin_slice(prefix, space, slice, last, partition.retention) end
  partition.count_of[space] = (partition.count_of[space] or 0) + 1
  if partition.appended % ENTRIES_PER_TRIM == 0 then partition.to_trim[space] = true end
  partition.slice_of[space] = slice
  partition.last_of[space] = id
  partition.changed[space] = true
  return last
end

-- True if the present number of members decides who sees the entry.
local function is_by_threshold(audience) return audience == '?' or byte_of(audience) == 63 end

-- Gives the audience with the threshold applied.
local function stamped(audience, members, threshold)
  local rule = members <= threshold and 'all' or 'subscribed'
  return #audience == 1 and rule or rule .. string.sub(audience, 2)
end

-- Gives the notification with the time at which it was appended as its first field, for an id that does not
-- say it.
local function with_time(notification, time) return '{"time":' .. time .. ',' .. string.sub(notification, 2) end

-- Appends an entry and publishes it. An entry that is not to be stored is only published. Its id is among the
-- last ones that were taken.
local function announce(partition, space, id, audience, notification, is_stored)
  local time = time_beside_id(partition.ms, partition.clock)
  if time then notification = with_time(notification, time) end
  if not is_stored then return say(partition.said, space, 'ephemeral ' .. id .. '\n' .. audience, notification) end
  local last = append(partition, space, id, audience, notification)
  say(partition.said, space, appended_header(id, last, audience), notification)
end

-- Does the same for an update of an entry, whose content says the time of the entry. The update is an entry
-- of the log itself. So a client that is away, or that reads the log for another reason, learns of it as of
-- any other entry.
local function announce_update(partition, space, id, updated, time, audience, notification)
  local last = append(partition, space, id,
    'updates', updated, 'updateTime', time, audience, notification)
  local header = 'updated ' .. id .. ' ' .. last .. ' ' .. updated .. ' ' .. time
  say(partition.said, space, header .. '\n' .. audience, notification)
end

-- The block keeps its names local: no later file uses them, and Lua has room for 200 in all.
do

-- locate: makes a step through the spaces that may have the entry. Gives the place to go on from, the space
-- if it was found, and how many logs were read. Three calls, and one for each of the spaces that have had an
-- entry as late as that.
local function locate(keys, arguments)
  local prefix = open_partition(keys)
  local id, cursor, count = unpack(arguments, 1, 3)
  local reply = redis_call('SSCAN', active_key(prefix, time_slice(ms_of(id))), cursor, 'COUNT', count)
  local spaces, logs = reply[2], 0
  for first = 1, #spaces, ARGUMENTS_PER_CALL do
    local last = math.min(first + ARGUMENTS_PER_CALL - 1, #spaces)
    local ends = redis_call('HMGET', partition_key(prefix), unpack(spaces, first, last))
    for index, log_end in ipairs(ends) do
      local space = spaces[first + index - 1]
      -- The field holds the last entry, followed by the id up to which entries are lost.
      if log_end and not is_before(string.match(log_end, '^%S+'), id) then
        logs = logs + 1
        if redis_call('XRANGE', log_key(prefix, space), id, id, 'COUNT', 1)[1] then return { '0', space, logs } end
      end
    end
  end
  return { reply[1], '', logs }
end

register('locate', locate, { 'no-writes' })

end
