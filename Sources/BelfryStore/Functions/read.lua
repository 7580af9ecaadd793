-- The read state of an account. In each partition everything up to a watermark is read: field `w<partition>`
-- of the account's hash, a decimal id. A set has the decimal ids that were read above the watermarks. In a
-- lagging space, one that the index learned of only after a watermark had passed it, the watermark is an id
-- of the space's own: field `lagging`, words of `<space>*<stream id>`. `version` counts the changes of the
-- hash.

-- Gives the milliseconds since 1970 and the low part of a decimal id. The id has 63 bits, so it is divided by
-- 2^22 in parts that a double holds.
local function parse_decimal(id)
  local high, middle, low = string.sub(id, 1, -15), string.sub(id, -14, -8), string.sub(id, -7)
  local rest = tonumber(high) or 0
  rest = rest % PER_MS * 1e7 + (tonumber(middle) or 0)
  local ms = math.floor(rest / PER_MS)
  rest = rest % PER_MS * 1e7 + tonumber(low)
  return EPOCH_MS + ms * 1e7 + math.floor(rest / PER_MS), rest % PER_MS
end

local function watermark_field(low) return 'w' .. math.floor(low / SEQUENCES) end

-- True if a space that lags at an id with this low part may have entries whose ids name the partition of the
-- watermark. The id names the space's partition. An id from before the keyspace grew names an earlier
-- partition instead, which the space's partition was a part of. The smallest number of partitions is not
-- known here, so an id of partition 3 is taken for one of any partition that is 3 modulo 4. A match too many
-- only keeps single marks for longer.
local function may_hold_back(low, field)
  local named, fewest = math.floor(low / SEQUENCES), 1
  while fewest <= named do fewest = fewest * 2 end
  return tonumber(string.sub(field, 2)) % fewest == named
end

-- Gives the lagging spaces with their ids, in the order of the text.
local function parse_lagging(text)
  local lagging = {}
  for space, id in string.gmatch(text or '', '(%S+)%*(%S+)') do lagging[#lagging + 1] = { space = space, id = id } end
  return lagging
end

local function write_lagging(key, lagging)
  local words = {}
  for index, each in ipairs(lagging) do words[index] = each.space .. '*' .. each.id end
  if words[1] then redis_call('HSET', key, 'lagging', table.concat(words, ' ')) else redis_call('HDEL', key, 'lagging') end
end

-- A large set is pruned in parts. Ids that are left below a watermark do no harm, and the sweep removes them.
local PRUNE_STEPS = 4
local PRUNE_STEP = 500

-- Removes ids from the set in one step. Gives the cursor to go on from, 0 at the end.
local function prune_step(key, cursor, is_to_go)
  local reply = redis_call('SSCAN', key, cursor, 'COUNT', PRUNE_STEP)
  local gone, kept = {}, {}
  for _, id in ipairs(reply[2]) do
    local list = is_to_go(id) and gone or kept
    list[#list + 1] = id
  end
  if cursor == '0' and reply[1] == '0' and #gone > #kept then
    -- The step saw a whole intset. Removing ids one by one would move the rest each time, so the set is made
    -- again.
    redis_call('UNLINK', key)
    call_in_chunks('SADD', key, kept)
  else
    call_in_chunks('SREM', key, gone)
  end
  return reply[1]
end

-- Gives a function that is true for an id that need not be in the set: it is at most the watermark of its
-- partition, and before the id of every lagging space there.
local function covered_by(fields)
  local places = {}
  local lagging
  for index = 1, #fields, 2 do
    if fields[index] == 'lagging' then lagging = parse_lagging(fields[index + 1]) end
    if string.sub(fields[index], 1, 1) == 'w' then
      local ms, low = parse_decimal(fields[index + 1])
      places[fields[index]] = { ms, low }
    end
  end
  for _, each in ipairs(lagging or {}) do
    local ms, low = parse_id(each.id)
    if ms == 0 then return function() return false end end -- of which partition, it does not say
    for field, place in pairs(places) do
      if may_hold_back(low, field) and (ms < place[1] or (ms == place[1] and low < place[2])) then
        places[field] = { ms, low }
      end
    end
  end
  return function(id)
    local ms, low = parse_decimal(id)
    local place = places[watermark_field(low)]
    return place and (ms < place[1] or (ms == place[1] and low <= place[2]))
  end
end

-- Watermarks never go back, so a call that comes late makes nothing unread.
local function raise_watermarks(prefix, number, account, watermarks)
  local key, set, own = account_key(prefix, account), {}, nil
  for _, id in ipairs(watermarks) do
    local ms, low = parse_decimal(id)
    local field = watermark_field(low)
    local old = redis_call('HGET', key, field)
    if not old or is_decimal_before(old, id) then
      set[#set + 1] = field
      set[#set + 1] = id
      if math.floor(low / SEQUENCES) == number then own = string.format('%d-%d', ms, low + 1) end
    end
  end
  call_in_chunks('HSET', key, set)
  -- The account's own log has one reader, so nobody else needs the entries that were read.
  if own then redis_call('XTRIM', log_key(prefix, personal_space(account)), 'MINID', own) end
end

local function catch_up(key, caught_up)
  local is_caught_up, left = {}, {}
  for _, space in ipairs(caught_up) do is_caught_up[space] = true end
  for _, each in ipairs(parse_lagging(redis_call('HGET', key, 'lagging'))) do
    if not is_caught_up[each.space] then left[#left + 1] = each end
  end
  write_lagging(key, left)
end

local function prune_read(prefix, account)
  local key, cursor = read_key(prefix, account), '0'
  if redis_call('EXISTS', key) == 0 then return end
  local is_covered = covered_by(redis_call('HGETALL', account_key(prefix, account)))
  for _ = 1, PRUNE_STEPS do
    cursor = prune_step(key, cursor, is_covered)
    if cursor == '0' then return end
  end
end

-- Adds to the number of direct messages that the account's index holds.
local function count_direct_messages(prefix, account, more)
  if more == 0 then return end
  local key = account_key(prefix, account)
  if redis_call('HINCRBY', key, 'directMessages', more) <= 0 then redis_call('HDEL', key, 'directMessages') end
end

-- A direct message that was read leaves the index, unless a second entry was sent to it; then the sweep removes it. `directs`
-- has words of `<space>*<stream id>`: the id of the entry that was read. A mark may come so late that the message has left
-- the index and was sent again: a later entry than the mark names stays.
local function forget_direct_messages(prefix, account, directs)
  local key = spaces_key(prefix, account)
  local gone = {}
  for _, direct in ipairs(directs) do
    local space, through = string.match(direct, '^(%S+)%*(%S+)$')
    local known = space and redis_call('HGET', key, space)
    local version = known and string.match(known, '^%a+ (%S+) %S+$')
    if version and not is_before(through, version) then gone[#gone + 1] = space end
  end
  count_direct_messages(prefix, account, -call_in_chunks('HDEL', key, gone))
end

local function count_members(key, ids)
  local count = 0
  for first = 1, #ids, ARGUMENTS_PER_CALL do
    local last = math.min(first + ARGUMENTS_PER_CALL - 1, #ids)
    for _, is_member in ipairs(redis_call('SMISMEMBER', key, unpack(ids, first, last))) do count = count + is_member end
  end
  return count
end

-- A badge is corrected so soon after a mark, once for all marks in between.
local BADGE_DELAY_MS = 1000

-- Enters a correction, unless the same one is due at that time or sooner and has not begun. Without a time it
-- is due after the delay.
local function plan_correction(prefix, due, text)
  local time = redis_call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  due = due or now + BADGE_DELAY_MS
  local known = tonumber(redis_call('ZSCORE', corrections_key(prefix), text) or 0)
  if known > now and known <= due then return end
  redis_call('ZADD', corrections_key(prefix), string.format('%d', due), text)
end

-- Has the number on the account's devices corrected, if they were told one (see pushers.lua). One call if they
-- were not.
local function correct_badge(prefix, account)
  if redis_call('HEXISTS', badges_key(prefix), account) == 0 then return end
  plan_correction(prefix, nil, 'badge ' .. account .. ' * 0')
end

-- The block keeps its names local: no later file uses them, and Lua has room for 200 in all.
do

-- Finds the updates of notifications with these decimal ids in a personal space, and adds them to the entries
-- to delete: an account that has read a notification reads none of its updates. None or one call.
local function add_updates(prefix, space, entries, ids)
  if not ids[1] then return end
  for _, record in ipairs(read_fields(table_key(prefix, space, 'updates'), ids)) do
    local entry = record and string.match(record, '^{"entry":"(%d+%-%d+)"')
    if entry then entries[#entries + 1] = entry end
  end
end

-- mark_read: gives how many of the ids were unread, and the version of the read state since. Gives
-- 'conflict', having done nothing, if the version is no longer the one that the mark was made from. Six calls
-- for single ids, seven with one of the account's own.
local function mark_read(keys, arguments)
  local known_partition = know_partition(keys)
  local prefix, number = known_partition.prefix, known_partition.number
  local account, known, message = unpack(arguments, 1, 3)
  local key, personal = account_key(prefix, account), personal_space(account)
  local found = redis_call('HMGET', keys[1], 'last', personal)
  if not found[1] then refuse_incomplete_partition() end
  local version = redis_call('HGET', key, 'version') or '0'
  if version ~= known then return 'conflict' end
  -- The hash of the partition is the list of its accounts, by which the sweep finds them.
  if not found[2] then redis_call('HSET', keys[1], personal, NO_ID) end
  local items, covered, watermarks, caught_up, own_entries, own_read, directs, at
  items, at = read_list(arguments, 4)
  covered, at = read_list(arguments, at)
  watermarks, at = read_list(arguments, at)
  if watermarks[1] then
    -- The index raises the version only from the first watermark on, when it learns of a space. It may have
    -- learned of one since the mark was made, so the first watermark is always a conflict, and the next try
    -- is exact.
    version = redis_call('HINCRBY', key, 'version', 1)
    if known == '0' then return 'conflict' end
  end
  caught_up, at = read_list(arguments, at)
  own_entries, at = read_list(arguments, at)
  own_read, at = read_list(arguments, at)
  directs = read_list(arguments, at)

  local count = call_in_chunks('SADD', read_key(prefix, account), items)
  if covered[1] then count = count + #covered - count_members(read_key(prefix, account), covered) end
  if caught_up[1] then catch_up(key, caught_up) end
  if watermarks[1] then
    raise_watermarks(prefix, number, account, watermarks)
    prune_read(prefix, account)
  end
  add_updates(prefix, personal, own_entries, own_read)
  call_in_chunks('XDEL', log_key(prefix, personal), own_entries)
  forget_direct_messages(prefix, account, directs)
  -- An account that marks entries has looked at its mailbox, so the share of each sender is free again.
  redis_call('UNLINK', shares_key(prefix, account))
  correct_badge(prefix, account)
  publish(prefix, personal, message)
  return count .. ' ' .. version
end

register('mark_read', mark_read, FREES_MEMORY)

end

-- Notes that the account's index learned of a space with entries to see after `before`. If the watermark has
-- passed that id, the entries in between were never shown and must not count as read: the space becomes a
-- lagging one.
local function note_lagging_space(prefix, account, space, version, before)
  local key = account_key(prefix, account)
  local _, version_low = parse_id(version)
  local found = redis_call('HMGET', key, 'version', watermark_field(version_low), 'lagging')
  if not found[1] then return end
  redis_call('HINCRBY', key, 'version', 1)
  if found[2] then
    local ms, low = parse_id(before)
    local mark_ms, mark_low = parse_decimal(found[2])
    if ms < mark_ms or (ms == mark_ms and low < mark_low) then
      local lagging, is_there = parse_lagging(found[3]), false
      for _, each in ipairs(lagging) do
        if each.space == space then
          is_there = true
          if is_before(before, each.id) then each.id = before end
        end
      end
      if not is_there then lagging[#lagging + 1] = { space = space, id = before } end
      write_lagging(key, lagging)
    end
  end
end
