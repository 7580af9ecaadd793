-- commit: carries out transactions of one partition, one after the other. Each has its own outcome. A
-- transaction that is refused changes nothing and does not affect the others. Calls of Redis:
--
--   2 the hash of the partition, and the time
--   1 or 2 dedupe records, if a sender gave an id; 1 more to enter new ones
--   1 per table of preconditions that is not the same as before (settings; roster for a user)
--   1 the member count, if an audience depends on it
--   1 append for each entry, and for each update of an earlier entry; 2 more for a space's first in some
--     17 minutes
--   1 for an update in a personal space that takes the place of an earlier one
--   2 the mailbox, if an account itself is the receiver, and 1 to count it as the sender's; 1 in all if the
--     caller is trusted
--   1 the hash of the partition
--   1 publish for each space, and 1 more each time that another message was said in between
--   4 for each account of the same partition whose index changes, 3 for each that gets an entry in its own space
--
-- So a hundred sends to one server take a hundred calls and ten. A single send takes 11 from a user, and 7
-- from a trusted caller that gives no id. None of this depends on how many members the space has.
--
-- If a call of Redis fails, as on a key of a wrong type, that transaction alone fails. It may be half done,
-- and is never acknowledged. The others are carried out or refused as they would be alone.

-- Reads the changes for accounts and for a directory in the transaction's own partition. `relays` has the
-- same changes in the form in which the outbox would keep them.
local function read_near(arguments, at)
  local near = { relays = arguments[at] }
  if near.relays == '' then return nil, at + 1 end
  near.charged = arguments[at + 1]
  near.earlier_max = tonumber(arguments[at + 2])
  near.index, at = read_list(arguments, at + 3)
  near.deliveries, at = read_list(arguments, at)
  near.listing, at = read_list(arguments, at)
  return near, at
end

-- An update has so many arguments.
local UPDATE_WORDS = 5

local function read_changes(arguments, at)
  local changes = {}
  changes.memberships, changes.relays, changes.wake_time = unpack(arguments, at, at + 2)
  changes.near, at = read_near(arguments, at + 3)
  changes.groups, at = read_groups(arguments, at)
  changes.ceilings, at = read_list(arguments, at)
  changes.removed, at = read_list(arguments, at)
  changes.updates, at = read_list(arguments, at)
  return changes, at
end

-- Reads how many entries are announced. In a personal space the text also says how many entries the mailbox
-- may hold in all, how many of one sender, and the sender: `1<7500<500<alice`.
local function read_count(commit, text)
  commit.announced = tonumber(text)
  if commit.announced then return end
  local count, entries, share, sender = string.match(text, '^(%d+)<(%d+)<(%d*)<(.*)$')
  commit.announced = tonumber(count)
  commit.capacity = { entries = tonumber(entries), share = tonumber(share), sender = sender }
end

-- Reads the transactions, and the spaces to which they may append. `=` stands for the same preconditions as
-- those of the transaction before, as with many sends to one place: the transactions share a table, which is
-- checked once. `-` in place of changes stands for no changes, as with sends.
local function read_commits(arguments, at)
  local commits, spaces, is_listed = {}, {}, {}
  local last, basis = #arguments, nil
  local function list_space(space)
    if is_listed[space] then return end
    is_listed[space] = true
    spaces[#spaces + 1] = space
  end
  while at <= last do
    local commit = {
      space = arguments[at], field = arguments[at + 1], fingerprint = false, basis = false, announced = 0, first = 0,
    }
    if commit.field ~= '' then
      commit.fingerprint = arguments[at + 2]
      at = at + 1
    end
    if arguments[at + 2] == '=' then
      at = at + 3
    else
      basis = { space = commit.space }
      basis.groups, at = read_groups(arguments, at + 2)
    end
    commit.basis = basis
    read_count(commit, arguments[at])
    commit.first = at + 1
    at = commit.first + 3 * commit.announced
    if arguments[at] == '-' then at = at + 1 else commit.changes, at = read_changes(arguments, at) end
    commits[#commits + 1] = commit
    list_space(commit.space)
    local near = commit.changes and commit.changes.near
    if near then
      for index = 2, #near.index, 2 do list_space(personal_space(near.index[index])) end
      for index = 1, #near.deliveries, 3 do list_space(personal_space(near.deliveries[index])) end
    end
  end
  return commits, spaces
end

-- True if the preconditions hold. The result is kept until a transaction of the call changes records.
local function holds(call, basis)
  if basis.seen ~= call.changes then
    basis.seen = call.changes
    basis.holds = are_unchanged(call.prefix, basis.space, basis.groups, call.arguments)
  end
  return basis.holds
end

-- Gives the audience with the threshold applied, by the member count of this moment.
local function stamp(call, space, audience)
  if not is_by_threshold(audience) then return audience end
  local members = call.members[space]
  if not members then
    members = redis_call('HLEN', table_key(call.prefix, space, 'roster'))
    call.members[space] = members
  end
  return stamped(audience, members, call.threshold)
end

-- Finds the first table that would grow past its ceiling.
local function find_table_over_ceiling(call, space, changes)
  local is_removed = {}
  for _, name in ipairs(changes.removed) do is_removed[name] = true end
  for index = 1, #changes.ceilings, 2 do
    local name, ceiling = changes.ceilings[index], tonumber(changes.ceilings[index + 1])
    local key = table_key(call.prefix, space, name)
    local length = is_removed[name] and 0 or length_after(key, name, changes.groups, call.arguments)
    if length > ceiling then return name end
  end
end

-- Counts the updates that take the place of earlier ones.
local function count_superseded(updates)
  local count = 0
  for at = UPDATE_WORDS, #updates, UPDATE_WORDS do
    if updates[at] ~= '' then count = count + 1 end
  end
  return count
end

-- True if the account's mailbox has room for so many entries; `superseded` of them take the place of others.
-- Two calls, or one if the caller is trusted.
local function has_capacity(call, space, capacity, count, superseded)
  local prefix = call.prefix
  if redis_call('XLEN', log_key(prefix, space)) + count - superseded > capacity.entries then return false end
  if capacity.sender == '' then return true end
  local account = string.sub(space, 9)
  return tonumber(redis_call('HGET', shares_key(prefix, account), capacity.sender) or 0) + count <= capacity.share
end

-- Takes the ids of the entries, and those of the updates.
local function take_ids(partition, commit)
  local ids, update_ids, changes = {}, {}, commit.changes
  for index = 1, commit.announced do ids[index] = take_id(partition) end
  if not changes then return ids, update_ids end
  for index = 1, #changes.updates / UPDATE_WORDS do update_ids[index] = take_id(partition) end
  -- The version of what is relayed, or of what an account prefers, must be later than that of anything before it.
  local is_preference = changes.memberships ~= '' and string.sub(commit.space, 1, 8) == 'account:'
  local takes_id = changes.relays ~= '' or changes.near or is_preference
  if not ids[1] and not update_ids[1] and takes_id then take_id(partition) end
  return ids, update_ids
end

local function write_records(call, space, changes, before)
  call.changes = call.changes + 1
  call.members = {}
  local marks = { ['\1'] = before, ['\2'] = call.partition.last }
  write_groups(call.prefix, space, changes.groups, call.arguments, marks)
  for _, name in ipairs(changes.removed) do
    redis_call('UNLINK', table_key(call.prefix, space, name))
  end
end

-- Notes when the space is due, unless it is due earlier. If it is, that time becomes a millisecond earlier: a
-- broker that has read the time, and has not seen this commit, must not replace it by a later one
-- (`postpone`).
local function wake(prefix, space, time)
  local key = wake_key(prefix)
  if redis_call('ZADD', key, 'LT', 'CH', time, space) == 0 then redis_call('ZINCRBY', key, -1, space) end
end

-- Applies the changes for accounts and for a directory of this partition, within the commit. Returns true if
-- all of them succeeded.
local function relay_near(call, space, near, version, before)
  local partition, are_all_done = call.partition, true
  local function try(action)
    local is_done = pcall(action)
    are_all_done = are_all_done and is_done
  end
  local function need_partition() return partition end
  for index = 1, #near.index, 2 do
    local kind, account = near.index[index], near.index[index + 1]
    local change = {
      kind = kind, version = version, before = before, earlier_max = near.earlier_max, entries_max = call.index_max,
      charged = near.charged, retention = partition.retention, invitation_time = call.invitation_time,
      invitations_max = call.invitations_max,
    }
    try(function()
      if change_index(call.prefix, account, space, change, need_partition) then say(partition.said, personal_space(account), 'index') end
    end)
  end
  for index = 1, #near.deliveries, 3 do
    local account, audience, notification = unpack(near.deliveries, index, index + 2)
    -- The position among the deliveries, as the outbox would give it.
    local position = string.format('%d', (index - 1) / 3)
    try(function()
      deliver_entry(partition, account, version, position, near.charged, audience, notification)
    end)
  end
  if near.listing[1] then try(function() change_listing(call.prefix, unpack(near.listing)) end) end
  return are_all_done
end

-- Appends to the outbox the changes for other partitions, and the changes of this partition if one of them
-- failed. The outbox then repeats these as a whole; a change that was applied before has no effect the second
-- time.
local function relay_changes(call, space, changes, before)
  -- The version is later than that of any commit before, and is the item's id, so the outbox is in the order of commits.
  -- Deliveries take later ids.
  local version = call.partition.last
  local parts = {}
  local near = changes.near
  if near and not relay_near(call, space, near, version, before) then parts[1] = near.relays end
  if changes.relays ~= '' then parts[#parts + 1] = changes.relays end
  if not parts[1] then return end
  local item = '{"space":"' .. space .. '","before":"' .. before .. '","relays":[' .. table.concat(parts, ',') .. ']}'
  redis_call('XADD', outbox_key(call.prefix), version, 'item', item)
end

-- Writes the changes that follow the entries.
local function finish_changes(call, space, changes, update_ids, before)
  local partition = call.partition
  for index, id in ipairs(update_ids) do
    local updated, time, audience, notification, superseded = unpack(
      changes.updates, UPDATE_WORDS * (index - 1) + 1, UPDATE_WORDS * index)
    if superseded ~= '' then redis_call('XDEL', log_key(call.prefix, space), superseded) end
    announce_update(partition, space, id, updated, time, audience, notification)
  end
  relay_changes(call, space, changes, before)
  if changes.wake_time ~= '' then wake(call.prefix, space, changes.wake_time) end
  -- The sweep finds spaces in the hash of the partition. A space to which nothing was ever appended may still
  -- have records, so it has to be noted too.
  if partition.last_of[space] == NO_ID then note_space(partition, space) end
end

-- All checks that can refuse come first, so that a refusal leaves the partition as it was, its last id
-- included.
local function carry_out(call, commit)
  local partition, space, changes = call.partition, commit.space, commit.changes
  if not holds(call, commit.basis) then return 'conflict' end
  local over = changes and find_table_over_ceiling(call, space, changes)
  if over then return 'ceiling ' .. over end
  local fingerprint = commit.announced > 0 and commit.fingerprint
  local earlier = fingerprint and find_earlier(call.dedupe, commit.field, fingerprint)
  if earlier then return earlier end
  local capacity = commit.capacity
  local count = capacity and commit.announced + (changes and #changes.updates / UPDATE_WORDS or 0)
  local superseded = capacity and changes and count_superseded(changes.updates) or 0
  if capacity and not has_capacity(call, space, capacity, count, superseded) then return 'full' end

  local before = partition.last
  local ids, update_ids = take_ids(partition, commit)
  if changes then
    write_records(call, space, changes, before)
    -- This is said before the entries, so that a consumer reads its membership again before it judges them.
    if changes.memberships ~= '' then
      say(partition.said, space, 'memberships', changes.memberships)
      -- In a personal space these are the account's preferences, and they decide what counts.
      local account = string.match(space, '^account:(.*)$')
      if account then correct_badge(call.prefix, account) end
    end
  end
  for index, id in ipairs(ids) do
    local at = commit.first + 3 * index - 3
    local is_stored, audience, notification = unpack(call.arguments, at, at + 2)
    announce(partition, space, id, stamp(call, space, audience), notification, is_stored == '1')
  end
  if capacity then charge(call.prefix, string.sub(space, 9), capacity.sender, count, partition.retention) end
  if changes then finish_changes(call, space, changes, update_ids, before) end
  local time = ids[1] and time_beside_id(partition.ms, partition.clock)
  if fingerprint then note_dedupe(call.dedupe, commit.field, fingerprint, ids[1], time) end
  return 'committed ' .. before .. (time and ' @' .. time or '') .. ' ' .. table.concat(ids, ' ')
end

-- Gives the outcomes, one per line. After the last id before a commit comes `@` and the time at which its
-- entries were appended, if their ids do not say it.
local function commit(keys, arguments)
  local commits, spaces = read_commits(arguments, 8)
  local partition = read_partition(keys, spaces)
  local prefix = partition.prefix
  local call = { prefix = prefix, partition = partition, arguments = arguments, changes = 0, members = {} }
  call.threshold = tonumber(arguments[3])
  partition.retention, call.index_max = tonumber(arguments[4]), tonumber(arguments[5])
  call.invitation_time, call.invitations_max = arguments[6], tonumber(arguments[7])
  call.dedupe = read_dedupe(partition, commits, tonumber(arguments[1]))
  local outcomes = {}
  for index, each in ipairs(commits) do
    local is_carried_out, outcome = pcall(carry_out, call, each)
    outcomes[index] = is_carried_out and outcome or failed(outcome)
  end
  trim_appended(partition, tonumber(arguments[2]))
  write_dedupe(partition, call.dedupe)
  write_partition(partition)
  publish_said(prefix, partition.said)
  return table.concat(outcomes, '\n')
end

-- If the time is no longer the one that the caller read, it stays. An empty time removes it.
local function postpone(keys, arguments)
  local key = wake_key(open_partition(keys))
  local space, known, time = unpack(arguments, 1, 3)
  local score = redis_call('ZSCORE', key, space)
  if not score or tonumber(score) ~= tonumber(known) then return 0 end
  if time == '' then redis_call('ZREM', key, space) else redis_call('ZADD', key, time, space) end
  return 1
end

register('commit', commit)
register('postpone', postpone, FREES_MEMORY)
