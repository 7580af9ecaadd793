-- Push. The hash `pushers:<account>` has an account's pushers by device, the set `pushed` the accounts that have any, the hash
-- `badges` the number that an account's devices were told last, or while they are being told one, a mark behind `?`. Push
-- reads the copies of its partition (copies.lua), and for each receiver with a pusher enters what is to be done into the
-- sorted sets `pushes` and `corrections`, by the time at which it is due:
--
--   push <space> <id> <account> <device> <tries>    an entry; of all devices `*`
--   badge <account> <device> <tries>                the number of unread ones, corrected
--
-- Corrections are kept apart because they may be due in weeks, when something expires, and are no more than there are
-- accounts with a number. What is tried again is counted, and given up beyond a limit.
--
-- Who enters them says in the same step how far it has come, so each is entered once, whatever dies.

-- put_pusher: gives `full` where the account has so many of them already.
local function put_pusher(keys, arguments)
  local prefix = open_partition(keys)
  local account, device, record, most = unpack(arguments, 1, 4)
  local key = pushers_key(prefix, account)
  if redis_call('HEXISTS', key, device) == 0 and redis_call('HLEN', key) >= tonumber(most) then return 'full' end
  local is_new = redis_call('HSET', key, device, record) == 1
  redis_call('SADD', accounts_pushed_key(prefix), account)
  return is_new and 'made' or 'replaced'
end

-- remove_pusher: with a record only if it is still that one, and not one that has replaced it.
local function remove_pusher(keys, arguments)
  local prefix = open_partition(keys)
  local account, device, record = unpack(arguments, 1, 3)
  local key = pushers_key(prefix, account)
  local known = redis_call('HGET', key, device)
  if not known or record ~= '' and known ~= record then return 'unknown' end
  redis_call('HDEL', key, device)
  if redis_call('EXISTS', key) == 0 then
    redis_call('SREM', accounts_pushed_key(prefix), account)
    redis_call('HDEL', badges_key(prefix), account)
  end
  return 'removed'
end

-- Enters what is to be done. A correction that is due sooner and has not begun says what this one would.
local function enter_push(prefix, due, text)
  if string.sub(text, 1, 6) ~= 'badge ' then return redis_call('ZADD', pushes_key(prefix), due, text) end
  plan_correction(prefix, tonumber(due), text)
end

-- begin_badge: devices are about to be told a number, which is counted next. Gives what was known before; without
-- `always`, nothing begins where nothing is known.
local function begin_badge(keys, arguments)
  local key = badges_key(open_partition(keys))
  local account, mark, always = unpack(arguments, 1, 3)
  local known = redis_call('HGET', key, account)
  if known or always == '1' then redis_call('HSET', key, account, '?' .. mark) end
  return known or ''
end

-- note_badge: devices were told the number. Gives `overtaken` where others have told them a number meanwhile: nobody knows
-- which of the two arrived last.
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

-- save_push: how far push has come with the copies, as many texts of the state as is said, and what is to be done for
-- those it has come past, a time and a text each.
local function save_push(keys, arguments)
  local prefix = open_partition(keys)
  local owner, milliseconds, generation, count = unpack(arguments, 1, 4)
  local last = 4 + tonumber(count)
  if not write_state(prefix, 'push', owner, milliseconds, generation, arguments, 5, last) then return 'lost' end
  for index = last + 1, #arguments, 2 do enter_push(prefix, arguments[index], arguments[index + 1]) end
  -- Nobody else reads what push has come past.
  if count ~= '0' and redis_call('SCARD', readers_key(prefix)) == 1 then
    local position = redis_call('HGET', state_key(prefix, 'push'), 'position')
    if position ~= NO_ID then redis_call('XTRIM', copies_key(prefix), 'MINID', '~', position) end
  end
  return 'saved'
end

-- settle_pushes: what was done. Behind the most that may wait and the time by now, for each: the text, the time at which it was due, how many
-- take its place, and the time and the text of each of these. Nothing changes where it is due at another time by now: then
-- there was reason to do it again. Gives how many were given up because too many wait.
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
        -- What was entered and not begun does not wait for another try; what is only looked at once more takes the place
        -- that it had.
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
register('begin_badge', begin_badge, FREES_MEMORY)
register('note_badge', note_badge, FREES_MEMORY)
register('save_push', save_push, FREES_MEMORY)
register('settle_pushes', settle_pushes, FREES_MEMORY)
