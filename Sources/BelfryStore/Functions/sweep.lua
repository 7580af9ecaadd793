-- The steps of the sweep. Each is bounded, however large the key: the broker calls them one after the other,
-- and Redis serves others in between. Only the model understands records, so the broker reads and judges
-- them, and the functions remove those that it found to be over.

local STEP = 100

-- begin_sweep: if an interval has passed since the last sweep began, begins one now and says so. A recorded
-- time in the future was written before the clock was set back, and must not stop sweeps until then.
local function begin_sweep(keys, arguments)
  local key, interval = partition_key(open_partition(keys)), tonumber(arguments[1])
  local time = redis_call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local swept_at = tonumber(redis_call('HGET', key, 'swept-at') or nil)
  if swept_at and swept_at <= now and now < swept_at + interval then return 0 end
  redis_call('HSET', key, 'swept-at', string.format('%d', now))
  return 1
end

-- The block keeps its names local: no later function uses them, and Lua has room for 200 in all.
do

-- sweep_time: gives the node's clock and when the last sweep began, in milliseconds since 1970; '' if there
-- was none. Changes nothing: the broker judges the clock before it sweeps by it.
local function sweep_time(keys)
  local key = partition_key(open_partition(keys))
  local time = redis_call('TIME')
  return { string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000)), redis_call('HGET', key, 'swept-at') or '' }
end

-- sweep_copies: trims copies before the id `floor`, at most so many. Gives how many went.
local COPIES_PER_STEP = 10000

local function sweep_copies(keys, arguments)
  local key = open_partition(keys) .. 'copies'
  return redis_call('XTRIM', key, 'MINID', '~', arguments[1], 'LIMIT', COPIES_PER_STEP)
end

register('sweep_time', sweep_time, { 'no-writes' })
register('sweep_copies', sweep_copies, FREES_MEMORY)

end

-- True if anything other than its log and its options is kept for the account.
local function has_account(prefix, account)
  return redis_call('EXISTS', spaces_key(prefix, account), read_key(prefix, account),
    account_key(prefix, account), delivered_key(prefix, account)) > 0
end

-- Gives the later of two ids. Either may be missing.
local function later_of(id, other)
  if not id or other and is_before(id, other) then return other end
  return id
end

-- Removes an empty log, which needs no key. If entries were lost, the hash of the partition keeps the space
-- for another retention, since only the hash says so: a reader who comes back must be told, although there is
-- nothing left to read. `forgotten` is the end of that time. Otherwise the space of a direct message ends
-- with its entry, and a personal space ends when nothing is kept for the account and its last entry is beyond
-- retention.
local function drop_empty_log(prefix, space, last, lost, floor, forgotten)
  redis_call('UNLINK', log_key(prefix, space), table_key(prefix, space, 'updates'))
  if lost and not is_before(lost, forgotten) then return end
  local kind, name = string.match(space, '^(%a+):(.*)$')
  local is_forgotten = kind == 'direct'
    or (kind == 'account' and is_before(last, floor) and not has_account(prefix, name))
  if is_forgotten then redis_call('HDEL', partition_key(prefix), space) end
end

-- sweep_space: trims one log. Gives the first entry left ('' if none), the length of each table, and the last entry that was
-- lost ('' if none).
local function sweep_space(keys, arguments)
  local prefix = open_partition(keys)
  local space, floor, entries_max, forgotten = arguments[1], arguments[2], tonumber(arguments[3]), arguments[4]
  local key = log_key(prefix, space)
  local known, last, lost = redis_call('HGET', partition_key(prefix), space), nil, nil
  if known then last, lost = parse_end(known) end
  local trimmed = trim_to_age(prefix, space, floor, last)
  trimmed = trim_to_length(prefix, space, entries_max, last) or trimmed
  if trimmed and last then
    lost = later_of(lost, trimmed)
    redis_call('HSET', partition_key(prefix), space, end_text(last, lost))
  end
  local first = redis_call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  if not first and last then drop_empty_log(prefix, space, last, lost, floor, forgotten) end
  local lengths = {}
  for index = 5, #arguments do
    lengths[index - 4] = redis_call('HLEN', table_key(prefix, space, arguments[index]))
  end
  return { first and first[1] or '', lengths, lost or '' }
end

-- One step of a scan: removes the fields of a hash for which `is_to_go(field, text)`. Gives the next cursor.
local function sweep_hash(key, cursor, is_to_go)
  local reply = redis_call('HSCAN', key, cursor, 'COUNT', STEP)
  local gone = {}
  for index = 1, #reply[2], 2 do
    if is_to_go(reply[2][index], reply[2][index + 1]) then gone[#gone + 1] = reply[2][index] end
  end
  call_in_chunks('HDEL', key, gone)
  return reply[1]
end

-- remove_unchanged: removes records that the broker found to be over. A record that no longer has the text
-- that was judged stays.
local function remove_unchanged(keys, arguments)
  local key = table_key(open_partition(keys), arguments[1], arguments[2])
  local fields, gone = {}, {}
  for index = 3, #arguments, 2 do fields[#fields + 1] = arguments[index] end
  local texts = redis_call('HMGET', key, unpack(fields))
  for index, field in ipairs(fields) do
    if texts[index] == arguments[2 * index + 2] then gone[#gone + 1] = field end
  end
  return call_in_chunks('HDEL', key, gone)
end

-- replace_unchanged: replaces records by texts that the broker made of them. A record that no longer has the text that the
-- broker read stays.
local function replace_unchanged(keys, arguments)
  local key = table_key(open_partition(keys), arguments[1], arguments[2])
  local replaced = 0
  for index = 3, #arguments, 3 do
    local field, before, text = unpack(arguments, index, index + 2)
    if redis_call('HGET', key, field) == before then
      redis_call('HSET', key, field, text)
      replaced = replaced + 1
    end
  end
  return replaced
end

-- sweep_updates: removes updates of entries before the floor, a decimal id.
local function sweep_updates(keys, arguments)
  local prefix = open_partition(keys)
  local space, name, cursor, floor = unpack(arguments, 1, 4)
  return sweep_hash(table_key(prefix, space, name), cursor, function(id)
    return is_decimal_before(id, floor)
  end)
end

-- Notes in the hash of the partition that a reader of the space who stands before the id has lost an entry.
local function note_lost(prefix, space, id)
  local last, lost = parse_end(redis_call('HGET', partition_key(prefix), space))
  -- `parse_end` recognises a loss by the length of the text, and with `0-0` the text would be too short.
  if last == NO_ID then last = id end
  redis_call('HSET', partition_key(prefix), space, end_text(last, later_of(lost, id)))
end

-- sweep_index: removes direct messages before `floor`, in which nothing can be seen any more, and spaces that the account left
-- before `forgotten`. The account is told of what was lost there for one more retention, by the space's own log.
--
-- A direct message that is still in the index was not read. Without it no reader looks at its space, so the
-- loss is noted in the personal space: at the id that the index took for the message, or at the message's own
-- millisecond if a fast clock put that later. A cursor beyond both has been shown the message. The loss is
-- not noted beyond the partition's last id: a reader who has come to the end stands at that id, and would be
-- told of the loss in each answer.
local function sweep_index(keys, arguments)
  local prefix = open_partition(keys)
  local account, cursor, floor, forgotten = unpack(arguments, 1, 4)
  local last_low = know_partition(keys).number * SEQUENCES + SEQUENCES - 1
  local directs, left, lost = 0, 0, nil
  local next_cursor = sweep_hash(spaces_key(prefix, account), cursor, function(space, entry)
    local kind, version, added_at = string.match(entry, '^(%a+) (%d+%-%d+) (%d+%-%d+)')
    local is_direct = string.sub(space, 1, 7) == 'direct:'
    local is_to_go = version and (is_direct and is_before(version, floor) or kind == 'left' and is_before(version, forgotten))
    if is_direct then
      if is_to_go then directs = directs + 1 else left = left + 1 end
      if is_to_go then lost = later_of(lost, later_of(added_at, id_text(ms_of(version), last_low))) end
    end
    return is_to_go
  end)
  if lost then
    local last = redis_call('HGET', partition_key(prefix), 'last')
    note_lost(prefix, personal_space(account), is_before(last, lost) and last or lost)
  end
  if cursor == '0' and next_cursor == '0' then
    -- The step saw the whole index, so the number is exact from now on.
    directs = tonumber(redis_call('HGET', account_key(prefix, account), 'directMessages') or 0) - left
  end
  count_direct_messages(prefix, account, -directs)
  return next_cursor
end

-- Removes watermarks beyond retention, and the lagging spaces of their partitions. `floor` is a decimal id.
local function sweep_watermarks(key, floor)
  local fields, gone, kept, left = redis_call('HGETALL', key), {}, {}, {}
  for index = 1, #fields, 2 do
    if string.sub(fields[index], 1, 1) == 'w' then
      local list = is_decimal_before(fields[index + 1], floor) and gone or kept
      list[#list + 1] = fields[index]
    end
  end
  if not gone[1] then return end
  local lagging = parse_lagging(redis_call('HGET', key, 'lagging'))
  for _, each in ipairs(lagging) do
    local ms, low = parse_id(each.id)
    local is_needed = false
    for _, field in ipairs(kept) do is_needed = is_needed or may_hold_back(low, field) end
    if ms > 0 and is_needed then left[#left + 1] = each end
  end
  call_in_chunks('HDEL', key, gone)
  if #left < #lagging then write_lagging(key, left) end
  -- A version without other fields says nothing.
  if redis_call('HLEN', key) == 1 + redis_call('HEXISTS', key, 'directMessages') then redis_call('HDEL', key, 'version') end
end

-- sweep_read: removes read ids beyond retention, and read ids that a watermark covers.
local function sweep_read(keys, arguments)
  local prefix = open_partition(keys)
  local account, cursor, floor = unpack(arguments, 1, 3)
  local key = read_key(prefix, account)
  if redis_call('EXISTS', key) == 0 then
    sweep_watermarks(account_key(prefix, account), floor)
    return '0'
  end
  local is_covered = covered_by(redis_call('HGETALL', account_key(prefix, account)))
  return prune_step(key, cursor, function(id) return is_decimal_before(id, floor) or is_covered(id) end)
end

-- sweep_delivered: removes keys of deliveries so old that `deliver` refuses them.
local function sweep_delivered(keys, arguments)
  local partition = read_partition(keys, {})
  local account, cursor, retention = unpack(arguments, 1, 3)
  local floor = retention_floor(partition, tonumber(retention))
  return sweep_hash(delivered_key(partition.prefix, account), cursor, function(delivery)
    local ms = string.match(delivery, '^(%d+)%-')
    return ms and tonumber(ms) < floor
  end)
end

-- forget_space: removes a removed space from the indexes of accounts, which are notified. Nobody can join it
-- any more, so no trace is needed to recognise a change that comes late.
local function forget_space(keys, arguments)
  local prefix = open_partition(keys)
  local space = arguments[1]
  local removed = 0
  for index = 2, #arguments do
    local account = arguments[index]
    if redis_call('HDEL', spaces_key(prefix, account), space) == 1 then
      publish(prefix, personal_space(account), 'index')
      removed = removed + 1
    end
  end
  return removed
end

-- unlist: removes a removed space from its directory.
local function unlist(keys, arguments)
  return redis_call('ZREM', directory_key(open_partition(keys), arguments[1]), arguments[2])
end

-- drop_space: removes the tables of a removed space, if its settings are still those that were judged. The
-- arguments name all of the tables.
local function drop_space(keys, arguments)
  local prefix = open_partition(keys)
  local space, settings = unpack(arguments, 1, 2)
  if redis_call('EXISTS', log_key(prefix, space)) == 1 then return 0 end
  if redis_call('HGET', table_key(prefix, space, 'settings'), 'settings') ~= settings then return 0 end
  for index = 3, #arguments do redis_call('UNLINK', table_key(prefix, space, arguments[index])) end
  redis_call('ZREM', wake_key(prefix), space)
  redis_call('HDEL', partition_key(prefix), space)
  return 1
end

-- sweep_dedupe: removes dedupe hashes whose windows are over.
local function sweep_dedupe(keys, arguments)
  local window, partition = tonumber(arguments[1]), read_partition(keys, {})
  local prefix = partition.prefix
  local in_use, before = read_buckets(partition.buckets)
  local bucket = tonumber(in_use)
  if not bucket or bucket + 2 * window > math.max(partition.now, partition.ms) then return 0 end
  if before then redis_call('UNLINK', dedupe_key(prefix, before)) end
  redis_call('UNLINK', dedupe_key(prefix, bucket))
  redis_call('HDEL', partition_key(prefix), 'dedupe')
  return 1
end

-- trim_read: trims a log through an id that every reader has read. It is not noted as lost, since nobody misses it.
local function trim_read(keys, arguments)
  local prefix = open_partition(keys)
  local space, last = unpack(arguments, 1, 2)
  local ms, low = parse_id(last)
  return redis_call('XTRIM', log_key(prefix, space), 'MINID', string.format('%d-%d', ms, low + 1))
end

register('begin_sweep', begin_sweep, FREES_MEMORY)
register('sweep_space', sweep_space, FREES_MEMORY)
register('trim_read', trim_read, FREES_MEMORY)
register('remove_unchanged', remove_unchanged, FREES_MEMORY)
register('replace_unchanged', replace_unchanged)
register('sweep_updates', sweep_updates, FREES_MEMORY)
register('sweep_index', sweep_index, FREES_MEMORY)
register('sweep_read', sweep_read, FREES_MEMORY)
register('sweep_delivered', sweep_delivered, FREES_MEMORY)
register('sweep_dedupe', sweep_dedupe, FREES_MEMORY)
register('unlist', unlist, FREES_MEMORY)
register('forget_space', forget_space, FREES_MEMORY)
register('drop_space', drop_space, FREES_MEMORY)
