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

-- What is remembered of the commits of a call: read for all of them, written for all of them. An id that runs
-- over into the next bucket's first milliseconds is entered with the others, and forgotten with them. Two calls,
-- or none if there is no name to look for.
local function read_dedupe(clock, commits, window)
  local dedupe = { window = window, found = {}, entered = {} }
  local fields = {}
  for _, commit in ipairs(commits) do
    if commit.dedupe ~= '' then
      commit.field = string.sub(redis.sha1hex(commit.dedupe), 1, FIELD_DIGITS)
      fields[#fields + 1] = commit.field
    end
  end
  if not fields[1] then return dedupe end
  local ms = math.max(clock.now, clock.ms)
  dedupe.bucket = bucket_of(ms, window)
  local before = redis.call('HMGET', dedupe_key(clock.prefix, dedupe.bucket - window), unpack(fields))
  local now = redis.call('HMGET', dedupe_key(clock.prefix, dedupe.bucket), unpack(fields))
  for index, field in ipairs(fields) do
    local record = before[index]
    if record and ms - tonumber(string.match(record, '^%d+')) >= window then record = false end
    dedupe.found[field] = record or now[index]
  end
  return dedupe
end

local function fingerprint_of(content) return string.sub(redis.sha1hex(content), 1, FINGERPRINT_DIGITS) end

-- The outcome for whom has a record already.
local function find_earlier(dedupe, field, fingerprint)
  local record = dedupe.found[field]
  if not record then return nil end
  local first, print = string.match(record, '^(%S+) (%S+)$')
  return print == fingerprint and 'duplicate ' .. first or 'different'
end

-- The record of a commit whose first id is `id`. Entered when all else of it is done: a record of what is not
-- done would have its repetition acknowledged.
local function enter_dedupe(dedupe, field, fingerprint, id)
  local record, entered = id .. ' ' .. fingerprint, dedupe.entered
  dedupe.found[field] = record
  entered[#entered + 1] = field
  entered[#entered + 1] = record
end

-- One call, or none if nothing was entered.
local function write_dedupe(clock, dedupe)
  if not dedupe.entered[1] then return end
  redis.call('HSET', dedupe_key(clock.prefix, dedupe.bucket), unpack(dedupe.entered))
  if tonumber(clock.bucket) ~= dedupe.bucket then
    open_bucket(clock.prefix, dedupe.bucket, clock, dedupe.window)
  end
end
