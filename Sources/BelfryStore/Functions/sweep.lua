-- The sweep's steps. Each is bounded, however large what it walks through: the broker calls them one after
-- the other, and Redis serves everybody else in between.

local STEP = 100

local function is_over(prefix, space)
  local settings = redis.call('HGET', table_key(prefix, space, 'settings'), 'settings')
  local is_read, record = pcall(cjson.decode, settings or '')
  return is_read and type(record) == 'table' and type(record.removedAt) == 'number'
end

-- Whether anything is kept about the account beside its log and its options.
local function has_account(prefix, account)
  return redis.call('EXISTS', spaces_key(prefix, account), read_key(prefix, account),
    account_key(prefix, account), arrived_key(prefix, account)) > 0
end

-- An empty log needs no key. A letter is over with its entry; an account's own space leaves the clock when
-- nothing is kept about the account and no reader can remember its last entry.
local function drop_empty_log(prefix, space, last, floor)
  redis.call('UNLINK', log_key(prefix, space), table_key(prefix, space, 'amendments'))
  local kind, name = string.match(space, '^(%a+):(.*)$')
  local is_forgotten = kind == 'letter'
    or (kind == 'account' and is_before(last, floor) and not has_account(prefix, name))
  if is_forgotten then redis.call('HDEL', clock_key(prefix), space) end
end

-- Trims one log, by whole nodes: to cut into one would move its rest for no gain.
-- Gives: the first entry left ('' if none), whether the space is over, how long each of the tables is.
local function sweep_space(keys, arguments)
  local prefix = open_partition(keys)
  local space, floor, entries_max = unpack(arguments, 1, 3)
  local key = log_key(prefix, space)
  redis.call('XTRIM', key, 'MINID', '~', floor)
  redis.call('XTRIM', key, 'MAXLEN', '~', entries_max)
  local first = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  if not first then
    local last = redis.call('HGET', clock_key(prefix), space)
    if last then drop_empty_log(prefix, space, last, floor) end
  end
  local lengths = {}
  for index = 4, #arguments do
    lengths[index - 3] = redis.call('HLEN', table_key(prefix, space, arguments[index]))
  end
  return { first and first[1] or '', (not first and is_over(prefix, space)) and 1 or 0, lengths }
end

-- One step through a hash: removes the fields of which `is_to_go(field, text)`. Gives the next cursor.
local function sweep_hash(key, cursor, is_to_go)
  local reply = redis.call('HSCAN', key, cursor, 'COUNT', STEP)
  local gone = {}
  for index = 1, #reply[2], 2 do
    if is_to_go(reply[2][index], reply[2][index + 1]) then gone[#gone + 1] = reply[2][index] end
  end
  call_in_chunks('HDEL', key, gone)
  return reply[1]
end

-- Whether something is forbidden to the member: muted, or blocked from a channel.
local function is_restrained(record, now)
  for word in string.gmatch(record, '%S+') do
    local muted_until = string.match(word, '^q%d*/(%d+)$')
    if muted_until and tonumber(muted_until) > now then return true end
    -- An interval that has an end has a comma.
    if string.find(word, '^b%d+/') and not string.find(word, ',[^;]*$') then return true end
  end
  return false
end

-- Former members whose last stay ended before the floor. Of those to whom something is forbidden the record
-- stays: nobody gets rid of that by going and coming back.
local function sweep_former(keys, arguments)
  local prefix = open_partition(keys)
  local space, name, cursor, floor, now = unpack(arguments, 1, 5)
  return sweep_hash(table_key(prefix, space, name), cursor, function(_, record)
    local through = string.match(record, '^%a %S*,(%d+%-%d+)')
    return through and is_before(through, floor) and not is_restrained(record, tonumber(now))
  end)
end

-- Amendments of entries before the floor, a decimal id.
local function sweep_amendments(keys, arguments)
  local prefix = open_partition(keys)
  local space, name, cursor, floor = unpack(arguments, 1, 4)
  return sweep_hash(table_key(prefix, space, name), cursor, function(id)
    return is_decimal_before(id, floor)
  end)
end

-- Records that begin with the time at which they are over.
local function sweep_expired(keys, arguments)
  local prefix = open_partition(keys)
  local space, name, cursor, now = unpack(arguments, 1, 4)
  return sweep_hash(table_key(prefix, space, name), cursor, function(_, record)
    local time = string.match(record, '^%d+')
    return time and tonumber(time) <= tonumber(now)
  end)
end

-- Spaces left so long ago, and letters so old, that nothing in them can still be seen.
local function sweep_index(keys, arguments)
  local prefix = open_partition(keys)
  local account, cursor, floor = unpack(arguments, 1, 3)
  return sweep_hash(spaces_key(prefix, account), cursor, function(space, entry)
    local kind, version = string.match(entry, '^(%a+) (%d+%-%d+) ')
    return version and (kind == 'left' or string.sub(space, 1, 7) == 'letter:') and is_before(version, floor)
  end)
end

-- Read marks of entries that nobody can see any more, and those that the watermark covers.
local function sweep_read(keys, arguments)
  local prefix = open_partition(keys)
  local account, cursor, floor = unpack(arguments, 1, 3)
  local key = read_key(prefix, account)
  local watermark = redis.call('HGET', account_key(prefix, account), 'watermark')
  if redis.call('EXISTS', key) == 1 then
    return prune_step(key, cursor, function(id)
      return is_decimal_before(id, floor) or (watermark and not is_decimal_before(watermark, id))
    end)
  end
  if watermark and is_decimal_before(watermark, floor) then
    redis.call('HDEL', account_key(prefix, account), 'watermark')
  end
  return '0'
end

-- Deliveries that come from so long ago that `deliver` would not take them again.
local function sweep_arrived(keys, arguments)
  local prefix, partition = open_partition(keys)
  local account, cursor, retention = unpack(arguments, 1, 3)
  local floor = retention_floor(read_clock(prefix, partition, {}), tonumber(retention))
  return sweep_hash(arrived_key(prefix, account), cursor, function(arrival)
    local ms = string.match(arrival, '^(%d+)%-')
    return ms and tonumber(ms) < floor
  end)
end

-- A space that is over leaves the indexes of accounts. Nobody can join it any more, so no later change has to
-- be told from this one, and nothing need be remembered. Those who follow it live let go of it.
local function forget_space(keys, arguments)
  local prefix = open_partition(keys)
  local space = arguments[1]
  local told = 0
  for index = 2, #arguments do
    local account = arguments[index]
    if redis.call('HDEL', spaces_key(prefix, account), space) == 1 then
      publish(prefix, personal_space(account), 'index')
      told = told + 1
    end
  end
  return told
end

-- Everything of a space that is over, all of its tables among the arguments.
local function drop_space(keys, arguments)
  local prefix = open_partition(keys)
  local space = arguments[1]
  if redis.call('EXISTS', log_key(prefix, space)) == 1 or not is_over(prefix, space) then return 0 end
  for index = 2, #arguments do redis.call('UNLINK', table_key(prefix, space, arguments[index])) end
  redis.call('ZREM', wake_key(prefix), space)
  redis.call('HDEL', clock_key(prefix), space)
  return 1
end

-- Dedupe buckets in which nothing can be found any more.
local function sweep_dedupe(keys, arguments)
  local prefix, partition = open_partition(keys)
  local window = tonumber(arguments[1])
  local clock = read_clock(prefix, partition, {})
  local bucket = tonumber(clock.bucket)
  if not bucket or bucket + 2 * window > math.max(clock.now, clock.ms) then return 0 end
  local before = redis.call('HGET', clock_key(prefix), 'dedupe-before')
  if before then redis.call('UNLINK', dedupe_key(prefix, before)) end
  redis.call('UNLINK', dedupe_key(prefix, bucket))
  redis.call('HDEL', clock_key(prefix), 'dedupe', 'dedupe-before')
  return 1
end

register('sweep_space', sweep_space, FREES_MEMORY)
register('sweep_former', sweep_former, FREES_MEMORY)
register('sweep_amendments', sweep_amendments, FREES_MEMORY)
register('sweep_expired', sweep_expired, FREES_MEMORY)
register('sweep_index', sweep_index, FREES_MEMORY)
register('sweep_read', sweep_read, FREES_MEMORY)
register('sweep_arrived', sweep_arrived, FREES_MEMORY)
register('sweep_dedupe', sweep_dedupe, FREES_MEMORY)
register('forget_space', forget_space, FREES_MEMORY)
register('drop_space', drop_space, FREES_MEMORY)
