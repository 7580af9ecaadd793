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

local function take_ids(clock, transaction, has_index_changes)
  local ids = {}
  for _ = 1, #transaction.announcements, 3 do ids[#ids + 1] = take_id(clock) end
  -- The version of an index change must be later than that of any before it.
  if #ids == 0 and has_index_changes then take_id(clock) end
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

local function commit(keys, arguments)
  local prefix, partition = open_partition(keys)
  local space, window, entries_max, threshold, dedupe = unpack(arguments, 1, 5)
  local standings, index_changes = arguments[6], arguments[7]
  local is_unchanged, at = are_unchanged(prefix, space, arguments, 8)
  if not is_unchanged then return { 'conflict' } end
  local transaction = read_transaction(arguments, at)
  local over = find_table_over_ceiling(prefix, space, transaction, arguments)
  if over then return { 'ceiling', over } end

  local clock = read_clock(prefix, partition, space)
  local before = clock.last
  local ids = take_ids(clock, transaction, index_changes ~= '')
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
  if index_changes ~= '' then
    local item = '{"space":"' .. space .. '","version":"' .. clock.last .. '","changes":' .. index_changes .. '}'
    redis.call('HSET', outbox_key(prefix), clock.last, item)
  end
  if clock.last ~= before then write_clock(prefix, space, clock) end
  return { 'committed', before, unpack(ids) }
end

register('commit', commit)
