-- The sweep's steps. Each is bounded, however large what it walks through: the broker calls them one after
-- the other, and Redis serves everybody else in between. What a record says, only the model knows: the broker reads
-- those records and judges, and what it found to be over is removed here.

local STEP = 100

-- Whether so many milliseconds have passed since the last sweep began, and if so, that one begins now. A record of a
-- time that has yet to come was written before the clock was set back, and must not stop sweeps until then.
local function begin_sweep(keys, arguments)
  local key, interval = partition_key((open_partition(keys))), tonumber(arguments[1])
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local swept_at = tonumber(redis.call('HGET', key, 'swept-at') or nil)
  if swept_at and swept_at <= now and now < swept_at + interval then return 0 end
  redis.call('HSET', key, 'swept-at', string.format('%d', now))
  return 1
end

-- Whether anything is kept about the account beside its log and its options.
local function has_account(prefix, account)
  return redis.call('EXISTS', spaces_key(prefix, account), read_key(prefix, account),
    account_key(prefix, account), delivered_key(prefix, account)) > 0
end

-- An empty log needs no key. A direct message is over with its entry; an account's own space leaves the clock when
-- nothing is kept about the account and no reader can remember its last entry.
local function drop_empty_log(prefix, space, last, floor)
  redis.call('UNLINK', log_key(prefix, space), table_key(prefix, space, 'updates'))
  local kind, name = string.match(space, '^(%a+):(.*)$')
  local is_forgotten = kind == 'direct'
    or (kind == 'account' and is_before(last, floor) and not has_account(prefix, name))
  if is_forgotten then redis.call('HDEL', partition_key(prefix), space) end
end

-- Trims one log.
-- Gives: the first entry left ('' if none), how long each of the tables is.
local function sweep_space(keys, arguments)
  local prefix = open_partition(keys)
  local space, floor, entries_max = unpack(arguments, 1, 3)
  local key = log_key(prefix, space)
  local last = string.match(redis.call('HGET', partition_key(prefix), space) or '', '^%S+')
  local lost = trim(prefix, space, 'MINID', floor, last)
  if string.sub(space, 1, 8) ~= 'account:' then lost = trim(prefix, space, 'MAXLEN', entries_max, last) or lost end
  if lost and last then redis.call('HSET', partition_key(prefix), space, last .. ' ' .. lost) end
  local first = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  if not first and last then drop_empty_log(prefix, space, last, floor) end
  local lengths = {}
  for index = 4, #arguments do
    lengths[index - 3] = redis.call('HLEN', table_key(prefix, space, arguments[index]))
  end
  return { first and first[1] or '', lengths }
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

-- Records that the broker has judged, each with the text that it judged by: what has been written to since stays.
local function remove_unchanged(keys, arguments)
  local key = table_key((open_partition(keys)), arguments[1], arguments[2])
  local fields, gone = {}, {}
  for index = 3, #arguments, 2 do fields[#fields + 1] = arguments[index] end
  local texts = redis.call('HMGET', key, unpack(fields))
  for index, field in ipairs(fields) do
    if texts[index] == arguments[2 * index + 2] then gone[#gone + 1] = field end
  end
  return call_in_chunks('HDEL', key, gone)
end

-- Updates of entries before the floor, a decimal id.
local function sweep_updates(keys, arguments)
  local prefix = open_partition(keys)
  local space, name, cursor, floor = unpack(arguments, 1, 4)
  return sweep_hash(table_key(prefix, space, name), cursor, function(id)
    return is_decimal_before(id, floor)
  end)
end

-- Spaces left so long ago, and direct messages so old, that nothing in them can still be seen.
local function sweep_index(keys, arguments)
  local prefix = open_partition(keys)
  local account, cursor, floor = unpack(arguments, 1, 3)
  local directs, left = 0, 0
  local next_cursor = sweep_hash(spaces_key(prefix, account), cursor, function(space, entry)
    local kind, version = string.match(entry, '^(%a+) (%d+%-%d+) ')
    local is_direct = string.sub(space, 1, 7) == 'direct:'
    local is_to_go = version and (kind == 'left' or is_direct) and is_before(version, floor)
    if is_direct then
      if is_to_go then directs = directs + 1 else left = left + 1 end
    end
    return is_to_go
  end)
  if cursor == '0' and next_cursor == '0' then
    -- Seen as a whole: exactly so many, whatever a broker of an earlier release has counted.
    directs = tonumber(redis.call('HGET', account_key(prefix, account), 'directMessages') or 0) - left
  end
  count_direct_messages(prefix, account, -directs)
  return next_cursor
end

-- What was read so long ago that nothing up to there can be seen any more: watermarks, and lagging spaces of their
-- partitions. `floor` is a decimal id.
local function sweep_watermarks(key, floor)
  local fields, gone, is_gone, left = redis.call('HGETALL', key), {}, {}, {}
  for index = 1, #fields, 2 do
    if string.sub(fields[index], 1, 1) == 'w' and is_decimal_before(fields[index + 1], floor) then
      gone[#gone + 1] = fields[index]
      is_gone[fields[index]] = true
    end
  end
  if not gone[1] then return end
  local lagging = parse_lagging(redis.call('HGET', key, 'lagging'))
  for _, each in ipairs(lagging) do
    local ms, low = parse_id(each.id)
    if ms > 0 and not is_gone[watermark_field(low)] then left[#left + 1] = each end
  end
  call_in_chunks('HDEL', key, gone)
  if #left < #lagging then write_lagging(key, left) end
  -- Alone it says nothing.
  if redis.call('HLEN', key) == 1 + redis.call('HEXISTS', key, 'directMessages') then redis.call('HDEL', key, 'version') end
end

-- Read marks of entries that nobody can see any more, and those that a watermark covers.
local function sweep_read(keys, arguments)
  local prefix = open_partition(keys)
  local account, cursor, floor = unpack(arguments, 1, 3)
  local key = read_key(prefix, account)
  if redis.call('EXISTS', key) == 0 then
    sweep_watermarks(account_key(prefix, account), floor)
    return '0'
  end
  local is_covered = covered_by(redis.call('HGETALL', account_key(prefix, account)))
  return prune_step(key, cursor, function(id) return is_decimal_before(id, floor) or is_covered(id) end)
end

-- Deliveries that come from so long ago that `deliver` would not take them again.
local function sweep_delivered(keys, arguments)
  local prefix, number = open_partition(keys)
  local account, cursor, retention = unpack(arguments, 1, 3)
  local floor = retention_floor(read_partition(prefix, number, {}), tonumber(retention))
  return sweep_hash(delivered_key(prefix, account), cursor, function(delivery)
    local ms = string.match(delivery, '^(%d+)%-')
    return ms and tonumber(ms) < floor
  end)
end

-- A space that is over leaves the indexes of accounts. Nobody can join it any more, so no later change has to
-- be told from this one, and nothing need be remembered. Those who follow it live let go of it.
local function forget_space(keys, arguments)
  local prefix = open_partition(keys)
  local space = arguments[1]
  local removed = 0
  for index = 2, #arguments do
    local account = arguments[index]
    if redis.call('HDEL', spaces_key(prefix, account), space) == 1 then
      publish(prefix, personal_space(account), 'index')
      removed = removed + 1
    end
  end
  return removed
end

-- A space that is over leaves its directory.
local function unlist(keys, arguments)
  return redis.call('ZREM', directory_key((open_partition(keys)), arguments[1]), arguments[2])
end

-- Everything of a space that is over, by the settings that say so; all of its tables are among the arguments.
local function drop_space(keys, arguments)
  local prefix = open_partition(keys)
  local space, settings = unpack(arguments, 1, 2)
  if redis.call('EXISTS', log_key(prefix, space)) == 1 then return 0 end
  if redis.call('HGET', table_key(prefix, space, 'settings'), 'settings') ~= settings then return 0 end
  for index = 3, #arguments do redis.call('UNLINK', table_key(prefix, space, arguments[index])) end
  redis.call('ZREM', wake_key(prefix), space)
  redis.call('HDEL', partition_key(prefix), space)
  return 1
end

-- Dedupe buckets in which nothing can be found any more.
local function sweep_dedupe(keys, arguments)
  local prefix, number = open_partition(keys)
  local window = tonumber(arguments[1])
  local partition = read_partition(prefix, number, {})
  local bucket = tonumber(partition.bucket)
  if not bucket or bucket + 2 * window > math.max(partition.now, partition.ms) then return 0 end
  if partition.bucket_before then redis.call('UNLINK', dedupe_key(prefix, partition.bucket_before)) end
  redis.call('UNLINK', dedupe_key(prefix, bucket))
  redis.call('HDEL', partition_key(prefix), 'dedupe', 'dedupe-before')
  return 1
end

-- What everybody has read, up to an id. Nobody misses it, so it is not lost.
local function trim_read(keys, arguments)
  local prefix = open_partition(keys)
  local space, last = unpack(arguments, 1, 2)
  local ms, low = parse_id(last)
  return redis.call('XTRIM', log_key(prefix, space), 'MINID', string.format('%d-%d', ms, low + 1))
end

register('begin_sweep', begin_sweep, FREES_MEMORY)
register('sweep_space', sweep_space, FREES_MEMORY)
register('trim_read', trim_read, FREES_MEMORY)
register('remove_unchanged', remove_unchanged, FREES_MEMORY)
register('sweep_updates', sweep_updates, FREES_MEMORY)
register('sweep_index', sweep_index, FREES_MEMORY)
register('sweep_read', sweep_read, FREES_MEMORY)
register('sweep_delivered', sweep_delivered, FREES_MEMORY)
register('sweep_dedupe', sweep_dedupe, FREES_MEMORY)
register('unlist', unlist, FREES_MEMORY)
register('forget_space', forget_space, FREES_MEMORY)
register('drop_space', drop_space, FREES_MEMORY)
