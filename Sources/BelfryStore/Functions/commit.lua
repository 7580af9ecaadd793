-- commit: a whole transaction. Everything that can refuse comes first, so that a refusal leaves the
-- partition as it was, its clock included.

local function read_transaction(arguments, at)
  local transaction = {}
  transaction.groups, at = read_groups(arguments, at)
  transaction.ceilings, at = read_list(arguments, at)
  transaction.removed, at = read_list(arguments, at)
  transaction.announcements, at = read_list(arguments, at)
  transaction.amendments, at = read_list(arguments, at)
  return transaction
end

-- The first table that would grow past its ceiling.
local function find_table_over_ceiling(prefix, space, transaction, arguments)
  local is_removed = {}
  for _, name in ipairs(transaction.removed) do is_removed[name] = true end
  for index = 1, #transaction.ceilings, 2 do
    local name, ceiling = transaction.ceilings[index], tonumber(transaction.ceilings[index + 1])
    local key = table_key(prefix, space, name)
    local length = is_removed[name] and 0 or length_after(key, name, transaction.groups, arguments)
    if length > ceiling then return name end
  end
end

local function take_ids(clock, transaction, has_relays)
  local ids = {}
  for _ = 1, #transaction.announcements, 3 do ids[#ids + 1] = take_id(clock) end
  -- The version of what is relayed must be later than that of anything before it.
  if #ids == 0 and has_relays then take_id(clock) end
  return ids
end

local function dedupe_content(transaction)
  local contents = {}
  for index = 3, #transaction.announcements, 3 do
    contents[#contents + 1] = transaction.announcements[index]
  end
  return table.concat(contents, '\n')
end

-- Standings come before the entries: a consumer reads its standing again before it judges them.
local function publish_and_append(prefix, space, clock, ids, transaction, standings, threshold, entries_max)
  if standings ~= '' then publish(prefix, space, 'standings\n' .. standings) end
  local announcements = transaction.announcements
  for index, id in ipairs(ids) do
    local at = 3 * index - 2
    local audience = stamp(prefix, space, announcements[at + 1], threshold)
    announce(prefix, space, clock, id, audience, announcements[at + 2], announcements[at] == '1', entries_max)
  end
  for _, message in ipairs(transaction.amendments) do publish(prefix, space, message) end
end

-- Never later than it was. If it was earlier already, it becomes a millisecond earlier still: whoever has read
-- that time and is looking at the space now has not seen this commit, and must not set a later one.
local function wake(prefix, space, time)
  local key = wake_key(prefix)
  if redis.call('ZADD', key, 'LT', 'CH', time, space) == 0 then redis.call('ZINCRBY', key, -1, space) end
end

-- The sweep finds spaces in the clock. One that nothing was ever appended to has records all the same.
local function enter_space(prefix, space, clock)
  if clock.last_of_space == NO_ID then redis.call('HSETNX', clock_key(prefix), space, NO_ID) end
end

local function commit(keys, arguments)
  local prefix, partition = open_partition(keys)
  local space, window, entries_max, threshold, dedupe = unpack(arguments, 1, 5)
  local standings, relays, wake_time = unpack(arguments, 6, 8)
  local is_unchanged, at = are_unchanged(prefix, space, arguments, 9)
  if not is_unchanged then return { 'conflict' } end
  local transaction = read_transaction(arguments, at)
  local over = find_table_over_ceiling(prefix, space, transaction, arguments)
  if over then return { 'ceiling', over } end

  local clock = read_clock(prefix, partition, space)
  local before = clock.last
  local ids = take_ids(clock, transaction, relays ~= '')
  if dedupe ~= '' and ids[1] then
    local content = dedupe_content(transaction)
    local refusal = enter_dedupe(prefix, dedupe, content, tonumber(window), clock, ids[1])
    if refusal then return refusal end
  end

  write_groups(prefix, space, transaction.groups, arguments, { ['\1'] = before, ['\2'] = clock.last })
  for _, name in ipairs(transaction.removed) do
    redis.call('UNLINK', table_key(prefix, space, name))
  end
  publish_and_append(prefix, space, clock, ids, transaction, standings, threshold, entries_max)
  if relays ~= '' then
    local item = '{"space":"' .. space .. '","version":"' .. clock.last .. '","relays":' .. relays .. '}'
    redis.call('HSET', outbox_key(prefix), clock.last, item)
  end
  if wake_time ~= '' then wake(prefix, space, wake_time) end
  if clock.last ~= before then write_clock(prefix, space, clock) end
  enter_space(prefix, space, clock)
  return { 'committed', before, unpack(ids) }
end

-- A time that is no longer what the caller read stays. An empty time removes it.
local function postpone(keys, arguments)
  local key = wake_key((open_partition(keys)))
  local space, known, time = unpack(arguments, 1, 3)
  local score = redis.call('ZSCORE', key, space)
  if not score or tonumber(score) ~= tonumber(known) then return 0 end
  if time == '' then redis.call('ZREM', key, space) else redis.call('ZADD', key, time, space) end
  return 1
end

register('commit', commit)
register('postpone', postpone, FREES_MEMORY)
