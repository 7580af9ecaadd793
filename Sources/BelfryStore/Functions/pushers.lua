-- Pushers, the ways to push to the devices of accounts. The hash `pushers:<account>` has an account's pushers by
-- device, and after `!` and the device its last failure, until a push is accepted again. The set `pushed` has the
-- accounts that have pushers.
--
-- The hash `badges` has the number that an account's devices were told last. While the devices are being told a
-- number, it has a mark after `?` instead.

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

-- begin_badge: notes that devices are about to be told a number, which is counted next. Gives the number
-- known before. Without `always`, nothing begins if no number is known.
local function begin_badge(keys, arguments)
  local key = badges_key(open_partition(keys))
  local account, mark, always = unpack(arguments, 1, 3)
  local known = redis_call('HGET', key, account)
  if known or always == '1' then redis_call('HSET', key, account, '?' .. mark) end
  return known or ''
end

-- note_badge: notes that devices were told the number. Gives `overtaken` if others have told them another number
-- meanwhile: nobody knows which of the two arrived last.
local function note_badge(keys, arguments)
  local prefix = open_partition(keys)
  local key = badges_key(prefix)
  local account, mark, unread = unpack(arguments, 1, 3)
  local known = redis_call('HGET', key, account)
  if known == '?' .. mark then
    if unread == '0' then redis_call('HDEL', key, account) else redis_call('HSET', key, account, unread) end
    return 'noted'
  end
  -- Pushes that share a count tell the same number. The first of them has noted it.
  if known == unread or (not known and unread == '0') then return 'noted' end
  if redis_call('EXISTS', pushers_key(prefix, account)) == 0 then return 'noted' end
  redis_call('HSET', key, account, '?')
  return 'overtaken'
end

register('put_pusher', put_pusher)
register('remove_pusher', remove_pusher, FREES_MEMORY)
register('note_push_failure', note_push_failure)
register('begin_badge', begin_badge, FREES_MEMORY)
register('note_badge', note_badge, FREES_MEMORY)
