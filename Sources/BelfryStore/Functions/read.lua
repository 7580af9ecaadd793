-- What an account has read: all up to a watermark, and a set of ids above it.

-- A large set is pruned in parts: leftovers below the watermark say what it says anyway, and the sweep comes
-- for them.
local PRUNE_STEPS = 4
local PRUNE_STEP = 500

-- Drops ids from the set. Gives the cursor to go on from, 0 at the end.
local function prune_step(key, cursor, is_to_go)
  local reply = redis.call('SSCAN', key, cursor, 'COUNT', PRUNE_STEP)
  local gone, kept = {}, {}
  for _, id in ipairs(reply[2]) do
    local list = is_to_go(id) and gone or kept
    list[#list + 1] = id
  end
  if cursor == '0' and reply[1] == '0' and #gone > #kept then
    -- An intset, seen as a whole. Taking its ids out one by one would move the rest each time.
    redis.call('UNLINK', key)
    call_in_chunks('SADD', key, kept)
  else
    call_in_chunks('SREM', key, gone)
  end
  return reply[1]
end

-- Never backwards: what arrives late must not make anything unread. `next_id` is the stream id after the
-- watermark, which Lua cannot compute.
local function raise_watermark(prefix, account, old, watermark, next_id)
  if old and not is_decimal_before(old, watermark) then return end
  redis.call('HSET', account_key(prefix, account), 'watermark', watermark)
  local key, cursor = read_key(prefix, account), '0'
  for _ = 1, PRUNE_STEPS do
    cursor = prune_step(key, cursor, function(id) return not is_decimal_before(watermark, id) end)
    if cursor == '0' then break end
  end
  -- The account's own log has one reader.
  redis.call('XTRIM', log_key(prefix, personal_space(account)), 'MINID', next_id)
end

-- The clock is the list of the partition's accounts, by which the sweep finds them.
local function register_account(prefix, account)
  redis.call('HSETNX', clock_key(prefix), personal_space(account), NO_ID)
end

-- What has been read of a letter is all there is in it, unless it was written to again. Then it is left to the sweep.
local function forget_letters(prefix, account, letters)
  local key = spaces_key(prefix, account)
  local gone = {}
  for _, letter in ipairs(letters) do
    local known = redis.call('HGET', key, letter)
    if known and string.match(known, '^%a+ %S+ %S+$') then gone[#gone + 1] = letter end
  end
  call_in_chunks('HDEL', key, gone)
end

local function mark_read(keys, arguments)
  local prefix = open_partition(keys)
  local account, message, watermark, next_id = unpack(arguments, 1, 4)
  local items, own_entries, letters, at
  items, at = read_list(arguments, 5)
  own_entries, at = read_list(arguments, at)
  letters = read_list(arguments, at)

  local old = redis.call('HGET', account_key(prefix, account), 'watermark')
  local unread = {}
  for _, id in ipairs(items) do
    if not old or is_decimal_before(old, id) then unread[#unread + 1] = id end
  end
  local count = call_in_chunks('SADD', read_key(prefix, account), unread)
  if not old then register_account(prefix, account) end
  if watermark ~= '' then raise_watermark(prefix, account, old, watermark, next_id) end
  call_in_chunks('XDEL', log_key(prefix, personal_space(account)), own_entries)
  forget_letters(prefix, account, letters)
  publish(prefix, personal_space(account), message)
  return count
end

-- Nothing changes for anybody, so nobody is told.
local function compact_read(keys, arguments)
  local prefix = open_partition(keys)
  local account, watermark, next_id = unpack(arguments, 1, 3)
  local old = redis.call('HGET', account_key(prefix, account), 'watermark')
  if not old then register_account(prefix, account) end
  raise_watermark(prefix, account, old, watermark, next_id)
  return 1
end

register('mark_read', mark_read, FREES_MEMORY)
register('compact_read', compact_read, FREES_MEMORY)
