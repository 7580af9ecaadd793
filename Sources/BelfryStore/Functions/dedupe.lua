-- Dedupe records. They lie in one hash per window's length of time, named by its first millisecond: a record
-- costs one field instead of a key with a timer, and goes with its whole hash. The field `dedupe` of the hash
-- names the hash in use, `dedupe-before` the one before it; there are never more.
--
-- A record is `<id> <fingerprint>`, the caller's of the content, under 80 bits of a hash of who sent where under which
-- name. The caller makes both. 28 characters at most: with one more, every record would take 16 bytes more of an
-- allocator that rounds up to 32 and 48. So the fingerprint has 24 bits; it only tells a caller of a bug.

-- The bucket of a time, and its name. Mostly the one that was asked for before.
local asked_window, asked_bucket, asked_name

local function bucket_of(ms, window)
  if window ~= asked_window or ms < asked_bucket or ms >= asked_bucket + window then
    asked_window, asked_bucket = window, math.floor(ms / window) * window
    asked_name = string.format('%d', asked_bucket)
  end
  return asked_bucket, asked_name
end

-- Whether the record is of a send within the window, as of the time that ids are made from.
local function is_remembered(record, ms, window)
  return record and ms - ms_of(record) < window
end

local function record_text(id, fingerprint) return id .. ' ' .. fingerprint end

-- The outcome for whom has a record already.
local function repeated(record, fingerprint)
  local first, print = string.match(record, '^(%S+) (%S+)$')
  return print == fingerprint and 'duplicate ' .. first or 'different'
end

-- The first write into a bucket: the one before the last is out of every window. Where the window has been changed, or
-- brokers have different ones, the bucket that is opened may be one of the two there are, or another than the next; of
-- those what may still be within the window stays.
local function open_bucket(prefix, in_use, before, bucket, window)
  local key, kept = partition_key(prefix), nil
  make_table(dedupe_key(prefix, bucket))
  for _, name in ipairs({ in_use or '', before or '' }) do
    local other = tonumber(name)
    if other and other ~= bucket then
      if not kept and other + 2 * window > bucket then
        kept = other
      else
        redis_call('UNLINK', dedupe_key(prefix, other))
      end
    end
  end
  redis_call('HSET', key, 'dedupe', string.format('%d', bucket))
  if kept then
    redis_call('HSET', key, 'dedupe-before', string.format('%d', kept))
  else
    redis_call('HDEL', key, 'dedupe-before')
  end
end

-- What is remembered of the commits of a call: read for all of them, written for all of them. An id that runs
-- over into the next bucket's first milliseconds is entered with the others, and forgotten with them. Two calls,
-- or none if there is no name to look for.
local function read_dedupe(partition, commits, window)
  local dedupe = { window = window, found = {}, entered = {} }
  local fields = {}
  for _, commit in ipairs(commits) do
    if commit.field ~= '' then fields[#fields + 1] = commit.field end
  end
  if not fields[1] then return dedupe end
  local ms = math.max(partition.now, partition.ms)
  dedupe.bucket = bucket_of(ms, window)
  local buckets, is_listed = {}, {}
  for _, name in ipairs({ dedupe.bucket - window, dedupe.bucket, partition.bucket or '', partition.bucket_before or '' }) do
    local bucket = tonumber(name)
    if bucket and not is_listed[bucket] then
      is_listed[bucket] = true
      buckets[#buckets + 1] = bucket
    end
  end
  for _, bucket in ipairs(buckets) do
    local records = redis_call('HMGET', dedupe_key(partition.prefix, bucket), unpack(fields))
    for index, field in ipairs(fields) do
      local record = records[index]
      if is_remembered(record, ms, window) then dedupe.found[field] = record end
    end
  end
  return dedupe
end

local function find_earlier(dedupe, field, fingerprint)
  local record = dedupe.found[field]
  return record and repeated(record, fingerprint)
end

-- The record of a commit whose first id is `id`. Entered when all else of it is done: a record of what is not
-- done would have its repetition acknowledged.
local function note_dedupe(dedupe, field, fingerprint, id)
  local record, entered = record_text(id, fingerprint), dedupe.entered
  dedupe.found[field] = record
  entered[#entered + 1] = field
  entered[#entered + 1] = record
end

-- One call, or none if nothing was entered.
local function write_dedupe(partition, dedupe)
  if not dedupe.entered[1] then return end
  redis_call('HSET', dedupe_key(partition.prefix, dedupe.bucket), unpack(dedupe.entered))
  if tonumber(partition.bucket) ~= dedupe.bucket then
    open_bucket(partition.prefix, partition.bucket, partition.bucket_before, dedupe.bucket, dedupe.window)
  end
end

-- first_sends: what became of sends that would be refused now. Gives `duplicate <id>`, `different`, or an empty text
-- for what is not remembered. Four calls, and nothing is written.
local function first_sends(keys, arguments)
  local prefix, number = open_partition(keys)
  local sends = {}
  for at = 2, #arguments, 2 do
    sends[#sends + 1] = { field = arguments[at], fingerprint = arguments[at + 1] }
  end
  local dedupe = read_dedupe(read_partition(prefix, number, {}), sends, tonumber(arguments[1]))
  local found = {}
  for index, send in ipairs(sends) do found[index] = find_earlier(dedupe, send.field, send.fingerprint) or '' end
  return found
end

register('first_sends', first_sends, { 'no-writes' })
