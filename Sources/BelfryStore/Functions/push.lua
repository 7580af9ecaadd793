-- Push. The hash `pushers:<account>` has an account's pushers by device, and after `!` and the device its last
-- failure, until a push is accepted again. The set `pushed` has the accounts that have pushers. The hash
-- `badges` has the number that an account's devices were told last. While the devices are being told a number,
-- it has a mark after `?` instead. Push reads the copies of its partition (copies.lua). For each receiver with a
-- pusher it enters a task into the sorted sets `pushes` and `corrections`, by the time at which the task is due:
--
--   push <space> <id> <account> <device> <tries>    an entry; `*` stands for all devices
--   badge <account> <device> <tries>                the number of unread entries, corrected
--
-- Corrections are kept apart because they may be due in weeks, when something expires, and are no more than
-- there are accounts with a number. Tries are counted, and a task is given up beyond a limit.
--
-- The broker that enters tasks notes its position in the same step. So each task is entered once, even if the
-- broker dies. Copies with many receivers are entered page by page while later ones pass. The state names them
-- in `unfinished`, oldest first: the id of each, and the page.

local function failure_field(device) return '!' .. device end

-- The number of an account's pushers.
local function count_pushers(key)
  local count = 0
  for _, field in ipairs(redis_call('HKEYS', key)) do
    if string.sub(field, 1, 1) ~= '!' then count = count + 1 end
  end
  return count
end

-- put_pusher: gives `full` if the account has so many pushers already.
local function put_pusher(keys, arguments)
  local prefix = open_partition(keys)
  local account, device, record, most = unpack(arguments, 1, 4)
  local key = pushers_key(prefix, account)
  if redis_call('HEXISTS', key, device) == 0 and count_pushers(key) >= tonumber(most) then return 'full' end
  local is_new = redis_call('HSET', key, device, record) == 1
  -- A failure is that of the pusher before. An earlier release leaves it behind when it removes a pusher.
  redis_call('HDEL', key, failure_field(device))
  redis_call('SADD', accounts_pushed_key(prefix), account)
  return is_new and 'made' or 'replaced'
end

-- remove_pusher: removes a pusher. If a record is given, the pusher goes only if it still has that record,
-- and was not replaced by another one.
local function remove_pusher(keys, arguments)
  local prefix = open_partition(keys)
  local account, device, record = unpack(arguments, 1, 3)
  local key = pushers_key(prefix, account)
  local known = redis_call('HGET', key, device)
  if not known or record ~= '' and known ~= record then return 'unknown' end
  redis_call('HDEL', key, device, failure_field(device))
  if redis_call('EXISTS', key) == 0 then
    redis_call('SREM', accounts_pushed_key(prefix), account)
    redis_call('HDEL', badges_key(prefix), account)
  end
  return 'removed'
end

-- note_push_failure: keeps a failure with its pusher, if that still has the record.
local function note_push_failure(keys, arguments)
  local prefix = open_partition(keys)
  local account, device, record, failure = unpack(arguments, 1, 4)
  local key = pushers_key(prefix, account)
  if redis_call('HGET', key, device) ~= record then return 'unknown' end
  redis_call('HSET', key, failure_field(device), failure)
  return 'noted'
end

-- Enters a task. If a correction is due sooner and has not begun, it says what this one would, and this one
-- is not entered.
local function enter_push(prefix, due, text)
  if string.sub(text, 1, 6) ~= 'badge ' then return redis_call('ZADD', pushes_key(prefix), due, text) end
  plan_correction(prefix, tonumber(due), text)
end

-- begin_badge: notes that devices are about to be told a number, which is counted next. Gives the number
-- known before. Without `always`, nothing begins if no number is known.
local function begin_badge(keys, arguments)
  local key = badges_key(open_partition(keys))
  local account, mark, always = unpack(arguments, 1, 3)
  local known = redis_call('HGET', key, account)
  if known or always == '1' then redis_call('HSET', key, account, '?' .. mark) end
  return known or ''
end

-- note_badge: notes that devices were told the number. Gives `overtaken` if others have told them a number
-- meanwhile: nobody knows which of the two arrived last.
local function note_badge(keys, arguments)
  local prefix = open_partition(keys)
  local key = badges_key(prefix)
  local account, mark, unread = unpack(arguments, 1, 3)
  if redis_call('HGET', key, account) == '?' .. mark then
    if unread == '0' then redis_call('HDEL', key, account) else redis_call('HSET', key, account, unread) end
    return 'noted'
  end
  if redis_call('EXISTS', pushers_key(prefix, account)) == 0 then return 'noted' end
  redis_call('HSET', key, account, '?')
  return 'overtaken'
end

-- save_push: writes the position of push among the copies, in as many texts of the state as the caller says,
-- and the tasks for the copies up to there, a time and a text each.
local function save_push(keys, arguments)
  local prefix = open_partition(keys)
  local owner, milliseconds, generation, count = unpack(arguments, 1, 4)
  local last = 4 + tonumber(count)
  if not write_state(prefix, 'push', owner, milliseconds, generation, arguments, 5, last) then return 'lost' end
  for index = last + 1, #arguments, 2 do enter_push(prefix, arguments[index], arguments[index + 1]) end
  -- If push is the only reader, nobody else needs the copies that it has entered.
  if count ~= '0' and redis_call('SCARD', readers_key(prefix)) == 1 then
    local position, unfinished = unpack(redis_call('HMGET', state_key(prefix, 'push'), 'position', 'unfinished'))
    local needed = unfinished and string.match(unfinished, '^%S+') or position
    if needed ~= NO_ID then redis_call('XTRIM', copies_key(prefix), 'MINID', '~', needed) end
  end
  return 'saved'
end

-- settle_pushes: notes the outcome of tasks. After the limit of waiting tasks and the present time come, for
-- each task: its text, the time at which it was due, how many tasks take its place, and the time and the text
-- of each of these. If the task is due at another time now, nothing changes: there was a reason to do it
-- again. Gives how many tasks were given up because too many wait.
local function settle_pushes(keys, arguments)
  local prefix = open_partition(keys)
  local pushes, most, later, given_up, index = pushes_key(prefix), tonumber(arguments[1]), '(' .. arguments[2], 0, 3
  while arguments[index] do
    local text, due, count = unpack(arguments, index, index + 2)
    local key = string.sub(text, 1, 6) == 'badge ' and corrections_key(prefix) or pushes
    local known = redis_call('ZSCORE', key, text)
    index = index + 3
    if known and tonumber(known) == tonumber(due) then
      redis_call('ZREM', key, text)
      for _ = 1, tonumber(count) do
        -- A task that was entered and has not begun does not wait for another try. A task that is only looked
        -- at once more takes the place that it had.
        local is_entered = arguments[index + 1] == text or string.sub(arguments[index + 1], 1, 6) == 'badge '
        if is_entered or redis_call('ZCOUNT', pushes, later, '+inf') < most then
          enter_push(prefix, arguments[index], arguments[index + 1])
        else
          given_up = given_up + 1
        end
        index = index + 2
      end
    else
      index = index + 2 * tonumber(count)
    end
  end
  return given_up
end

register('put_pusher', put_pusher)
register('remove_pusher', remove_pusher, FREES_MEMORY)
register('note_push_failure', note_push_failure)
register('begin_badge', begin_badge, FREES_MEMORY)
register('note_badge', note_badge, FREES_MEMORY)
register('save_push', save_push, FREES_MEMORY)
register('settle_pushes', settle_pushes, FREES_MEMORY)
