-- Logs and what is said on live channels.

local function publish(prefix, space, message) redis.call('SPUBLISH', live_channel(prefix, space), message) end

-- The audience with the threshold applied, from the number of members now. One call for an audience that
-- depends on it, none for others; never more with more members.
local function stamp(prefix, space, audience, threshold)
  if string.byte(audience) ~= 63 then return audience end -- '?'
  local members = redis.call('HLEN', table_key(prefix, space, 'roster'))
  local rule = members <= tonumber(threshold) and 'all' or 'subscribed'
  return rule .. string.sub(audience, 2)
end

-- Redis gives a log's first entry room for 4 KiB, and a letter never has a second one: a copy has just what
-- the entry takes.
local function make_compact(key)
  local copy = key .. ':copy'
  redis.call('COPY', key, copy)
  redis.call('RENAME', copy, key)
end

-- Appends an entry and says so; only says so if it is not to be stored. Two calls or one, and two more for the
-- first entry of a space.
local function announce(prefix, space, clock, id, audience, notification, is_stored, entries_max)
  local rest = '\n' .. audience .. '\n' .. notification
  if not is_stored then return publish(prefix, space, 'passing ' .. id .. rest) end
  local key = log_key(prefix, space)
  redis.call('XADD', key, 'MAXLEN', '~', entries_max, id, 'audience', audience, 'notification', notification)
  if clock.last_of_space == NO_ID then make_compact(key) end
  publish(prefix, space, 'appended ' .. id .. ' ' .. clock.last_of_space .. rest)
  clock.last_of_space = id
  clock.has_appended = true
end

-- One call.
local function write_clock(prefix, space, clock)
  if clock.has_appended then
    redis.call('HSET', clock_key(prefix), 'last', clock.last, space, clock.last_of_space)
  else
    redis.call('HSET', clock_key(prefix), 'last', clock.last)
  end
end
