-- Dedupe records. They lie in one hash per window's length of time, named by its first millisecond: a record
-- costs one field instead of a key with a timer, and goes with its whole hash. The clock's field `dedupe`
-- names the hash in use, `dedupe-before` the one before it; there are never more.
--
-- A record is `<id> <fingerprint>` under the first 80 bits of the key's SHA-1. 28 characters at most: with
-- one more, every record would take 16 bytes more of an allocator that rounds up to 32 and 48. So the
-- fingerprint has 24 bits; it only tells a caller of a bug.

local FIELD_DIGITS = 20
local FINGERPRINT_DIGITS = 6

local function bucket_of(ms, window) return math.floor(ms / window) * window end

-- The first write into a bucket: the one before the last is out of every window.
local function open_bucket(prefix, bucket, clock, window)
  local before = redis.call('HGET', clock_key(prefix), 'dedupe-before')
  if before then redis.call('UNLINK', dedupe_key(prefix, before)) end
  local old = tonumber(clock.bucket)
  if old and old ~= bucket - window then
    redis.call('UNLINK', dedupe_key(prefix, old))
    old = nil
  end
  redis.call('HSET', clock_key(prefix), 'dedupe', string.format('%d', bucket))
  if old then
    redis.call('HSET', clock_key(prefix), 'dedupe-before', string.format('%d', old))
  else
    redis.call('HDEL', clock_key(prefix), 'dedupe-before')
  end
end

-- Enters the record for the commit whose first id is `id`, or gives the reply for whom has one already.
-- It is the first write of a commit: whatever else could refuse it has been asked. Two calls.
local function enter_dedupe(prefix, name, content, window, clock, id)
  local field = string.sub(redis.sha1hex(name), 1, FIELD_DIGITS)
  local fingerprint = string.sub(redis.sha1hex(content), 1, FINGERPRINT_DIGITS)
  local ms = parse_id(id)
  local bucket = bucket_of(ms, window)
  local earlier = redis.call('HGET', dedupe_key(prefix, bucket - window), field)
  if earlier and ms - tonumber(string.match(earlier, '^%d+')) >= window then earlier = false end
  if not earlier then
    local key = dedupe_key(prefix, bucket)
    if redis.call('HSETNX', key, field, id .. ' ' .. fingerprint) == 1 then
      if tonumber(clock.bucket) ~= bucket then open_bucket(prefix, bucket, clock, window) end
      return nil
    end
    earlier = redis.call('HGET', key, field)
  end
  local first, print = string.match(earlier, '^(%S+) (%S+)$')
  if print == fingerprint then return { 'duplicate', first } end
  return { 'different' }
end
