-- Logs and what is said on live channels.

local function publish(prefix, space, message) redis.call('SPUBLISH', live_channel(prefix, space), message) end

-- Said when all is done, in this order over all spaces: a consumer has one place in a partition, and what it hears
-- after a later id of another space lies behind that place. Only what one space is told in a row is one message.
--
-- A message comes in pieces: Redis's Lua hashes each string it makes from its first byte to its last, half a
-- microsecond for a notification, so what is put together is put together once.
local function say(clock, space, ...)
  local said = clock.said[#clock.said]
  if not said or said.space ~= space then
    said = { space = space, count = 0, 'several\n' }
    clock.said[#clock.said + 1] = said
  end
  if said.count > 0 then said[#said + 1] = '\n' end
  said.count = said.count + 1
  for _, piece in ipairs({ ... }) do said[#said + 1] = piece end
end

-- One call for each message.
local function publish_said(clock)
  for _, said in ipairs(clock.said) do
    publish(clock.prefix, said.space, table.concat(said, '', said.count > 1 and 1 or 2))
  end
end

-- Redis gives a log's first entry room for 4 KiB, and a letter never has a second one: a copy has just what
-- the entry takes.
local function make_compact(key)
  local copy = key .. ':copy'
  redis.call('COPY', key, copy)
  redis.call('RENAME', copy, key)
end

-- Appends an entry and says so; only says so if it is not to be stored. One call or none, and two more for the
-- first entry of a space. A log is trimmed with the first entry of a call, which spares the others the words.
local function announce(clock, space, id, audience, notification, is_stored, entries_max)
  if not is_stored then return say(clock, space, 'passing ', id, '\n', audience, '\n', notification) end
  local key, last = log_key(clock.prefix, space), clock.last_of[space]
  if clock.changed[space] then
    redis.call('XADD', key, id, 'audience', audience, 'notification', notification)
  else
    redis.call('XADD', key, 'MAXLEN', '~', entries_max, id, 'audience', audience, 'notification', notification)
    clock.changed[space] = true
  end
  clock.last_of[space] = id
  if last == NO_ID then make_compact(key) end
  say(clock, space, 'appended ', id, ' ', last, '\n', audience, '\n', notification)
end
