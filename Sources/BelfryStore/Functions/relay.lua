-- The changes that a commit makes for accounts and directories. Those of its own partition are made in the
-- commit (commit.lua), others by the calls below, for items of the outbox. A call may be repeated, and
-- changes nothing the second time.
--
-- A call carries messages for several accounts of one partition. One that fails does not affect the others:
-- each has a result, a number or `failed` and Redis's error.

-- Gives the results of `action` for each `width` arguments from the one at `first` on.
local function for_each(arguments, first, width, action)
  local results = {}
  for at = first, #arguments, width do
    local is_done, result = pcall(action, unpack(arguments, at, at + width - 1))
    results[#results + 1] = is_done and result or failed(result)
  end
  return results
end

-- Gives the personal spaces of the accounts of a call. Each account is the first of `width` arguments.
local function personal_spaces(arguments, first, width)
  local spaces = {}
  for at = first, #arguments, width do spaces[#spaces + 1] = personal_space(arguments[at]) end
  return spaces
end

-- Counts the entries that a user sends to an account, until the account marks an entry as read, so that one
-- sender cannot fill the mailbox for all others. One call, and one more for the first.
local function charge(prefix, account, sender, count, retention)
  if sender == '' then return end
  local key = shares_key(prefix, account)
  if redis_call('HINCRBY', key, sender, count) == count then redis_call('PEXPIRE', key, retention, 'NX') end
end

local change_index

-- The block keeps its names local: no later file uses them, and Lua has room for 200 in all.
do

-- A full index drops a space that the account has left. It takes a random sample of this size and drops the
-- space left first, so the cost does not grow with the index. It never drops a space that the account is in,
-- or a direct message.
local SAMPLE = 32

-- Drops the earliest field of a random sample. `version_of` gives the version in a value, or nil if the field must stay.
local function drop_earliest_of_sample(key, version_of)
  local sample = redis_call('HRANDFIELD', key, SAMPLE, 'WITHVALUES')
  local earliest, earliest_version
  for index = 1, #sample, 2 do
    local version = version_of(sample[index + 1])
    if version and (not earliest or is_before(version, earliest_version)) then
      earliest, earliest_version = sample[index], version
    end
  end
  if earliest then redis_call('HDEL', key, earliest) end
end

local function version_if_left(entry)
  local kind, version = string.match(entry, '^(%a+) (%d+%-%d+) ')
  if kind == 'left' then return version end
end

local function make_room(key, entries_max)
  if redis_call('HLEN', key) > entries_max then drop_earliest_of_sample(key, version_if_left) end
end

-- Notes that the account is invited to a space, or to a channel of it: `server:7`, `server:7 9`. A full list
-- drops the place of the earliest invitation in a random sample, as an index does. The list expires with its
-- last invitation. Four calls; two more if the list is full.
local function note_invitation(prefix, account, place, change)
  local key, version = invitations_key(prefix, account), change.version
  local known = redis_call('HGET', key, place)
  if known and not is_before(known, version) then return end
  redis_call('HSET', key, place, version)
  redis_call('PEXPIRE', key, change.invitation_time)
  if known or redis_call('HLEN', key) <= change.invitations_max then return end
  drop_earliest_of_sample(key, function(invited) return invited end)
end

-- Gives the earlier states of an index entry, with the state until now put first; no more than `earlier_max`
-- are kept.
local function remember(version, added_at, earlier, earlier_max)
  local words = { '', version, added_at }
  for word in string.gmatch(earlier, '%S+') do
    if #words <= 2 * earlier_max then words[#words + 1] = word end
  end
  return table.concat(words, ' ')
end

-- Writes an entry of the index. `known` has the fields `kind`, `version`, `added_at` and `earlier` of the entry that is there.
local function write_index_entry(prefix, account, space, kind, change, known, need_partition)
  local key, version = spaces_key(prefix, account), change.version
  local added_at, earlier = known.added_at, known.earlier
  -- A feed had the space until the account left, so no cursor has to take leaving into account. But if the
  -- index never learned that the account had joined, this change is all that it will learn of that membership
  -- interval.
  if kind == 'joined' or known.kind ~= 'joined' then
    if added_at then earlier = remember(known.version, added_at, earlier, change.earlier_max) end
    local partition = need_partition()
    added_at = take_id(partition)
    -- The personal space is noted even if nothing was ever appended to it: the hash of the partition is also
    -- the list of its accounts, by which the sweep finds them.
    note_space(partition, personal_space(account))
    -- The account has left, and its index never learned of the membership that ends: a failover has lost the entry. The space
    -- lags since the last state that is known, or what was sent meanwhile would count as read.
    local before = kind == 'left' and (known.version or NO_ID) or change.before
    note_lagging_space(prefix, account, space, version, before)
  end
  redis_call('HSET', key, space, kind .. ' ' .. version .. ' ' .. added_at .. earlier)
  make_room(key, change.entries_max)
  -- Notifications that only those inside a room see no longer count.
  if kind == 'left' and string.sub(space, 1, 5) == 'room:' then correct_badge(prefix, account) end
end

-- Has the index learn of a direct message, once. The message leaves the index when it is read, so only its delivery key shows
-- that the change was made before. Returns true if the message is new.
local function deliver_direct_message(prefix, account, space, change, need_partition)
  local key, delivery = delivered_key(prefix, account), change.version .. '/' .. space
  if redis_call('HSETNX', key, delivery, '') == 0 then return false end
  local is_entered, problem = pcall(function()
    charge(prefix, account, change.charged, 1, change.retention)
    write_index_entry(prefix, account, space, change.kind, change, { earlier = '' }, need_partition)
    count_direct_messages(prefix, account, 1)
  end)
  if is_entered then return true end
  -- Something failed, so the delivery must be possible again.
  redis_call('HDEL', key, delivery)
  error(problem, 0)
end

-- Tells an account's index that the account joined or left a space, or is still present there.
-- A change that arrives after a later one does nothing, and `present` does nothing to an index that knows of
-- the present membership interval. `invited`, or `invited` and a channel, changes the list of invitations
-- instead of the index. Four calls. Returns true if the index changed.
--
-- `change` has these fields: `kind`; `version`; `before`, the last id before the change or before the present
-- membership interval; `earlier_max` and `entries_max`, the limits of earlier states and of the index;
-- `charged`, the account charged for a direct message; `invitation_time`, the milliseconds that the list of
-- invitations is kept after its last invitation; and `invitations_max`, the limit of that list.
-- `need_partition` gives the partition of the account, read with the account's personal space.
change_index = function(prefix, account, space, change, need_partition)
  local channel = string.match(change.kind, '^invited(.*)$')
  if channel then
    note_invitation(prefix, account, space .. channel, change)
    return false
  end
  local text, is_direct = redis_call('HGET', spaces_key(prefix, account), space), string.sub(space, 1, 7) == 'direct:'
  if not text and is_direct then return deliver_direct_message(prefix, account, space, change, need_partition) end

  local known, kind = { earlier = '' }, change.kind
  if text then
    known.kind, known.version, known.added_at, known.earlier =
      string.match(text, '^(%a+) (%d+%-%d+) (%d+%-%d+)([%d%- ]*)$')
    known.earlier = known.earlier or ''
    if known.version and not is_before(known.version, change.version) then return false end
  end
  if kind == 'present' then
    if known.kind == 'joined' and is_before(change.before, known.version) then return false end
    kind = 'joined'
  end
  if is_direct then charge(prefix, account, change.charged, 1, change.retention) end
  write_index_entry(prefix, account, space, kind, change, known, need_partition)
  return true
end

end

-- Appends an entry to an account's personal space, once. The delivery key is the commit's version and the
-- position in it. It is kept for as long as the delivery may be repeated: the log cannot tell, since entries
-- are deleted when read. Returns true if the entry is new.
local function deliver_entry(partition, account, version, position, charged, audience, notification)
  local key, delivery = delivered_key(partition.prefix, account), version .. '/' .. position
  if redis_call('HSETNX', key, delivery, '') == 0 then return false end
  local is_appended, problem = pcall(
    announce, partition, personal_space(account), take_id(partition), audience, notification, true)
  if is_appended then
    charge(partition.prefix, account, charged, 1, partition.retention)
    return true
  end
  -- The append failed, so the delivery must be possible again.
  redis_call('HDEL', key, delivery)
  error(problem, 0)
end

-- A space appears in a directory, or disappears from it.
local function change_listing(prefix, directory, place, is_listed)
  local key = directory_key(prefix, directory)
  if is_listed == '1' then return redis_call('ZADD', key, 0, place) end
  return redis_call('ZREM', key, place)
end

-- Gives the first millisecond within retention. It never goes back, as the last id of the partition does not:
-- a delivery whose key the sweep has removed is too old for `deliver` ever after.
local function retention_floor(partition, retention) return math.max(partition.now, partition.ms) - retention end

-- The block keeps its names local: no later file uses them, and Lua has room for 200 in all.
do

-- relay: makes index changes. Calls: those of each change, and three for all of them together if any account
-- has joined.
local function relay(keys, arguments)
  local prefix = open_partition(keys)
  local entries_max, retention = tonumber(arguments[1]), arguments[2]
  local invitation_time, invitations_max = arguments[3], tonumber(arguments[4])
  local partition
  local function need_partition()
    partition = partition or read_partition(keys, personal_spaces(arguments, 5, 7))
    return partition
  end
  local changed, is_done = {}, {}

  local results = for_each(arguments, 5, 7, function(account, space, kind, version, before, earlier_max, charged)
    local change = {
      kind = kind, version = version, before = before, earlier_max = tonumber(earlier_max), entries_max = entries_max,
      charged = charged, retention = retention, invitation_time = invitation_time, invitations_max = invitations_max,
    }
    if not change_index(prefix, account, space, change, need_partition) then return 0 end
    local personal = personal_space(account)
    if not is_done[personal] then
      is_done[personal] = true
      changed[#changed + 1] = personal
    end
    return 1
  end)

  if partition then write_partition(partition) end
  for _, personal in ipairs(changed) do publish(prefix, personal, 'index') end
  return results
end

-- deliver: appends entries to personal spaces. A delivery older than retention is not appended.
local function deliver(keys, arguments)
  local retention = tonumber(arguments[1])
  local partition = read_partition(keys, personal_spaces(arguments, 2, 6))
  partition.retention = retention
  local floor = retention_floor(partition, retention)

  local results = for_each(arguments, 2, 6, function(account, version, position, charged, audience, notification)
    if parse_id(version) < floor then return 0 end
    return deliver_entry(partition, account, version, position, charged, audience, notification) and 1 or 0
  end)

  write_partition(partition)
  publish_said(partition.prefix, partition.said)
  return results
end

-- list: adds an entry to a directory, or removes it.
local function list(keys, arguments)
  local prefix = open_partition(keys)
  return change_listing(prefix, unpack(arguments, 1, 3))
end

register('relay', relay)
register('deliver', deliver)
register('list', list)

end
