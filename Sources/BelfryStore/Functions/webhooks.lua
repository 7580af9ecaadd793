-- Webhooks. While a partition has endpoints, what is appended to its logs is also appended to one stream, in the order of
-- its ids: the copies. A log will not do for that: a personal one loses what is read, and any log what all have read.
--
-- What an endpoint has had is a hash: `position`, the last id of the copies that is dealt with; `count`, how many copies
-- there had been up to it, by which it is known how many fell out before they were delivered, or `?`; `generation`, which
-- a replay raises; and for each space that is behind a field `behind:<space>`. Whoever delivers holds a lease, a key that
-- ends by itself: who has lost it writes nothing any more.

local function endpoints_key(prefix) return prefix .. 'webhooks' end
local function copies_key(prefix) return prefix .. 'copies' end
local function state_key(prefix, endpoint) return prefix .. 'webhook:' .. endpoint end
local function lease_key(prefix, endpoint) return prefix .. 'webhook-lease:' .. endpoint end

-- How many copies there have been, how many there are, and the id of the last one.
local function read_copies(prefix)
  local key = copies_key(prefix)
  if redis_call('EXISTS', key) == 0 then return 0, 0, NO_ID end
  local facts, reply = {}, redis_call('XINFO', 'STREAM', key)
  for index = 1, #reply, 2 do facts[reply[index]] = reply[index + 1] end
  return facts['entries-added'], facts['length'], facts['last-generated-id']
end

-- begin_webhook: from now on the partition's entries are copied for the endpoint.
local function begin_webhook(keys, arguments)
  local prefix = open_partition(keys)
  local endpoint = arguments[1]
  if redis_call('SADD', endpoints_key(prefix), endpoint) == 0 then return 'known' end
  redis_call('HSET', partition_key(prefix), 'copies', '1')
  local added, _, last = read_copies(prefix)
  redis_call('HSET', state_key(prefix, endpoint), 'position', last, 'count', string.format('%d', added), 'generation', '1')
  return 'begun'
end

local function end_webhook(keys, arguments)
  local prefix = open_partition(keys)
  local endpoint = arguments[1]
  redis_call('SREM', endpoints_key(prefix), endpoint)
  redis_call('UNLINK', state_key(prefix, endpoint), lease_key(prefix, endpoint))
  if redis_call('EXISTS', endpoints_key(prefix)) == 0 then
    redis_call('HDEL', partition_key(prefix), 'copies')
    redis_call('UNLINK', copies_key(prefix))
  end
  return 'ended'
end

-- claim_webhook: the lease, for so many milliseconds, if nobody else has it. Gives how many copies there have been and
-- how many there are, the id of the last one, and the state; nothing where another has the lease or there is no endpoint.
local function claim_webhook(keys, arguments)
  local prefix = open_partition(keys)
  local endpoint, owner, milliseconds = unpack(arguments, 1, 3)
  local lease = lease_key(prefix, endpoint)
  if (redis_call('GET', lease) or owner) ~= owner then return {} end
  local state = redis_call('HGETALL', state_key(prefix, endpoint))
  if not state[1] then return {} end
  redis_call('SET', lease, owner, 'PX', milliseconds)
  local added, length, last = read_copies(prefix)
  return { string.format('%d', added), string.format('%d', length), last, state }
end

-- save_webhook: fields of the state, an empty text for one that goes. Nothing is written by who has lost the lease, or has
-- not yet heard of a replay.
local function save_webhook(keys, arguments)
  local prefix = open_partition(keys)
  local endpoint, owner, milliseconds, generation = unpack(arguments, 1, 4)
  local lease, state = lease_key(prefix, endpoint), state_key(prefix, endpoint)
  if redis_call('GET', lease) ~= owner or redis_call('HGET', state, 'generation') ~= generation then return 'lost' end
  if milliseconds == '0' then redis_call('UNLINK', lease) else redis_call('PEXPIRE', lease, milliseconds) end
  local set, removed = {}, {}
  for index = 5, #arguments, 2 do
    if arguments[index + 1] == '' then
      removed[#removed + 1] = arguments[index]
    else
      set[#set + 1] = arguments[index]
      set[#set + 1] = arguments[index + 1]
    end
  end
  if set[1] then redis_call('HSET', state, unpack(set)) end
  if removed[1] then redis_call('HDEL', state, unpack(removed)) end
  return 'saved'
end

-- replay_webhook: goes back to just before an id, for whatever lies behind it.
local function replay_webhook(keys, arguments)
  local prefix = open_partition(keys)
  local endpoint, from = unpack(arguments, 1, 2)
  local key = state_key(prefix, endpoint)
  local position = redis_call('HGET', key, 'position')
  if not position then return 'unknown' end
  redis_call('HINCRBY', key, 'generation', 1)
  if is_before(from, position) then redis_call('HSET', key, 'position', from, 'count', '?') end
  -- A space that is behind is due at once, from where it is or from there, whichever is earlier.
  local reply = redis_call('HGETALL', key)
  for index = 1, #reply, 2 do
    if string.sub(reply[index], 1, 7) == 'behind:' then
      local at = string.match(reply[index + 1], '^%S+')
      if is_before(from, at) then
        redis_call('HDEL', key, reply[index])
      else
        redis_call('HSET', key, reply[index], at .. ' 0 0')
      end
    end
  end
  return 'replayed'
end

register('begin_webhook', begin_webhook)
register('end_webhook', end_webhook, FREES_MEMORY)
register('claim_webhook', claim_webhook, FREES_MEMORY)
register('save_webhook', save_webhook, FREES_MEMORY)
register('replay_webhook', replay_webhook, FREES_MEMORY)
