-- Live streams. The hash `streams` of a partition has, by accid, the streams of that account that are open on
-- any broker, a line each:
--
--     <id> <registration> <since> <device> <address>[ <why it is to end> <by which device>]
--
-- with `*` for no device, and `?` in its place for a page that waits for notifications. Such a page counts as a live
-- device, but it is no stream: it replaces none, and is not ended as one.
--
-- `since` is when the stream was opened, in milliseconds by the clock of this Redis. The broker says only how long the
-- stream has been open, so the clocks of brokers, which may be minutes apart, decide nothing. A registration stands as
-- long as its key exists (`registration:<name>`, in the first partition), which its loop renews. So nothing else has to
-- be written for a broker that died. A stream that is to end keeps its line until its broker has closed it. So a broker
-- that did not hear of it finds out when it registers its streams again.

local WAITING_PAGE = '?'

local function streams_key(prefix) return prefix .. 'streams' end

local function read_streams(key, account)
  local streams = {}
  for line in string.gmatch(redis_call('HGET', key, account) or '', '[^\n]+') do
    local text, id, since, device, over = string.match(line, '^((%S+) %S+ (%d+) (%S+) %S+)(.*)$')
    if text then
      streams[#streams + 1] = { text = text, id = id, since = tonumber(since), device = device, over = over }
    end
  end
  return streams
end

local function write_streams(key, account, streams)
  if not streams[1] then return redis_call('HDEL', key, account) end
  local lines = {}
  for index, stream in ipairs(streams) do lines[index] = stream.text .. stream.over end
  redis_call('HSET', key, account, table.concat(lines, '\n'))
end

local function may_not_be_beside(logins, one, other)
  if one.device == WAITING_PAGE or other.device == WAITING_PAGE then return false end
  return logins == 'onePerAccount' or (logins == 'onePerDevice' and one.device == other.device and one.device ~= '*')
end

-- True if `other`, which is registered, was opened after `stream`, which registers now. The stream that
-- registers later counts as the later one within a millisecond, and if the clock was set back since `other`
-- was registered. If both are registered again, the ids decide within a millisecond, so that both orders of
-- registering end the same one.
local function is_later(other, stream, now, was_registered)
  if other.since > now then return false end
  if other.since ~= stream.since then return other.since > stream.since end
  return was_registered and other.id > stream.id
end

-- Notes why the streams for which `is_to_end(stream)` are to end, and tells their brokers. Gives their lines.
-- A stream that was to end before is told again and gives no line: its broker has not closed it, and may not
-- have heard.
local function end_those(prefix, account, streams, over, is_to_end)
  local ids, lines = {}, {}
  for _, stream in ipairs(streams) do
    if is_to_end(stream) then
      ids[#ids + 1] = stream.id
      if stream.over == '' then
        stream.over = over
        lines[#lines + 1] = stream.text
      end
    end
  end
  if ids[1] then publish(prefix, personal_space(account), 'ended' .. over .. '\n' .. table.concat(ids, ' ')) end
  return lines
end

-- Gives '' if the stream is open, and otherwise why it is to end. A stream that was registered before may
-- have been ended since. If two may not be open together, the one that was opened first ends, even if it is
-- registered later: loops and brokers register streams some milliseconds after these were opened, or when
-- they reach Redis again.
local function open_stream(prefix, account, stream, logins, now, was_registered)
  local key = streams_key(prefix)
  local known, kept, over = read_streams(key, account), {}, ''
  for _, other in ipairs(known) do
    if other.id == stream.id then
      over = other.over
      -- Each call takes a moment to arrive, which makes `since` late by as much. So the earlier one is nearer
      -- to the truth.
      stream.since = math.min(stream.since, other.since)
    else
      kept[#kept + 1] = other
    end
  end
  for _, other in ipairs(kept) do
    local ends_this = over == '' and other.over == '' and may_not_be_beside(logins, stream, other)
    if ends_this and is_later(other, stream, now, was_registered) then over = ' replaced ' .. other.device end
  end
  if over ~= '' then return string.sub(over, 2) end
  end_those(prefix, account, kept, ' replaced ' .. stream.device, function(other)
    return may_not_be_beside(logins, stream, other)
  end)
  stream.text = string.format('%s %s %d %s %s', stream.id, stream.registration, stream.since, stream.device, stream.address)
  kept[#kept + 1] = stream
  write_streams(key, account, kept)
  return ''
end

-- open_streams: registers streams, four words each after their account: the id, the milliseconds for which it
-- has been open, the device, and the address. A stream that was opened after another one was registered never
-- counts as the earlier one: its call arrives after it was opened, so `now` less its age is not before that.
local function open_streams(keys, arguments)
  local prefix = open_partition(keys)
  local registration, logins, was_registered = arguments[1], arguments[2], arguments[3] == 'again'
  local time = redis_call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local outcomes = {}
  for index = 4, #arguments, 5 do
    local account, id, age, device, address = unpack(arguments, index, index + 4)
    local stream = { id = id, registration = registration, since = now - age, device = device, address = address, over = '' }
    outcomes[#outcomes + 1] = open_stream(prefix, account, stream, logins, now, was_registered)
  end
  return outcomes
end

-- Removes those streams of an account for which `is_gone(stream)`.
local function remove_streams(key, account, is_gone)
  local streams, kept = read_streams(key, account), {}
  for _, stream in ipairs(streams) do
    if not is_gone(stream) then kept[#kept + 1] = stream end
  end
  if #kept < #streams then write_streams(key, account, kept) end
  return #streams - #kept
end

-- close_streams: removes streams that their broker has closed, an account and an id each.
local function close_streams(keys, arguments)
  local key, removed = streams_key(open_partition(keys)), 0
  for index = 1, #arguments, 2 do
    local id = arguments[index + 1]
    removed = removed + remove_streams(key, arguments[index], function(stream) return stream.id == id end)
  end
  return removed
end

-- end_streams: has all streams of an account, or those of a device, end. Gives their lines.
local function end_streams(keys, arguments)
  local prefix = open_partition(keys)
  local account, device = unpack(arguments, 1, 2)
  local key = streams_key(prefix)
  local streams = read_streams(key, account)
  local lines = end_those(prefix, account, streams, ' ended *', function(stream)
    return stream.device == device or (device == '*' and stream.device ~= WAITING_PAGE)
  end)
  if lines[1] then write_streams(key, account, streams) end
  return lines
end

-- sweep_streams: removes the streams of registrations that are forgotten, an account and a registration each.
local function sweep_streams(keys, arguments)
  local key, removed = streams_key(open_partition(keys)), 0
  for index = 1, #arguments, 2 do
    local registration = arguments[index + 1]
    removed = removed + remove_streams(key, arguments[index], function(stream)
      return string.match(stream.text, '^%S+ (%S+)') == registration
    end)
  end
  return removed
end

local function begin_registration(keys, arguments)
  local name, milliseconds = unpack(arguments, 1, 2)
  return redis_call('SET', open_partition(keys) .. 'registration:' .. name, '', 'PX', milliseconds)
end

-- Streams are registered above maxmemory, too. Each takes some 100 bytes, and without them streams that are
-- open would count as closed.
register('begin_registration', begin_registration, FREES_MEMORY)
register('open_streams', open_streams, FREES_MEMORY)
register('close_streams', close_streams, FREES_MEMORY)
register('end_streams', end_streams, FREES_MEMORY)
register('sweep_streams', sweep_streams, FREES_MEMORY)
