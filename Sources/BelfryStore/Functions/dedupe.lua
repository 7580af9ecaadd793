-- Dedupe records. They are fields of hashes (buckets). There is one bucket for each stretch of time as long
-- as the window, named by its first millisecond. A field takes less memory than a key that expires, and is
-- removed with its bucket. In the partition's hash the field `dedupe` names the bucket in use and then the
-- one before, if there is one; there are never more.
--
-- The name of a field is 80 bits of a hash of sender, space and messageClientId; its value is `<id>
-- <fingerprint of the content>`. The caller makes both. The value has 28 characters at most: one more would
-- take 16 more bytes of an allocator that rounds up to 32 and 48. Therefore the fingerprint has 24 bits,
-- which is enough to tell a caller of a bug. While ids are ahead of the clock, a third word is the time of
-- the append.

-- Gives the bucket of a time, and its name. The result is remembered, since the next call mostly asks for the
-- same bucket.
local asked_window, asked_bucket, asked_name

local function bucket_of(ms, window)
  if window ~= asked_window or ms < asked_bucket or ms >= asked_bucket + window then
    asked_window, asked_bucket = window, math.floor(ms / window) * window
    asked_name = string.format('%d', asked_bucket)
  end
  return asked_bucket, asked_name
end

-- Gives the buckets that the field names, the one in use and the one before; nil if there is none. Most texts
-- are the same as the last one, in any partition, so the last result is remembered.
local read_text, read_in_use, read_before

local function read_buckets(text)
  if not text then return nil, nil end
  if text ~= read_text then
    local in_use, before = string.match(text, '^(%d+) ?(%d*)$')
    read_text, read_in_use, read_before = text, in_use, before ~= '' and before or nil
  end
  return read_in_use, read_before
end

-- True if the record is of a send within the window, measured by the time that ids are made from.
local function is_remembered(record, ms, window)
  return record and ms - ms_of(record) < window
end

-- Gives the text of a record. `time` is false unless the id is ahead of the clock.
local function record_text(id, fingerprint, time)
  local text = id .. ' ' .. fingerprint
  return time and text .. ' ' .. time or text
end

-- Gives the outcome of a send that has a record: the id of the first send, and its time if the id does not
-- say it.
local function repeated(record, fingerprint)
  local first, print, time = string.match(record, '^(%S+) (%S+)( ?%d*)$')
  return print == fingerprint and 'duplicate ' .. first .. time or 'different'
end

-- Called with the first write into a bucket. Removes the buckets that are out of the window, usually the one
-- before the last. If the window was changed, or brokers have different ones, buckets may overlap. A bucket
-- that may still have records within the window is kept.
local function open_bucket(prefix, in_use, before, bucket, window)
  local kept
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
  local names = kept and string.format('%d %d', bucket, kept) or string.format('%d', bucket)
  redis_call('HSET', partition_key(prefix), 'dedupe', names)
end

-- Reads the records of all commits of a call together; `write_dedupe` writes them together. All new records
-- go to one bucket, even if an id runs over into the first milliseconds of the next. Two calls, or none if no
-- commit has a messageClientId.
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
  dedupe.in_use, dedupe.before = read_buckets(partition.buckets)
  for _, name in ipairs({ dedupe.bucket - window, dedupe.bucket, dedupe.in_use or '', dedupe.before or '' }) do
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

-- Notes the record of a commit whose first id is `id`, appended at `time`. This comes last: if the record
-- were kept and the commit failed, a repetition of the send would be acknowledged although nothing was done.
local function note_dedupe(dedupe, field, fingerprint, id, time)
  local record, entered = record_text(id, fingerprint, time), dedupe.entered
  dedupe.found[field] = record
  entered[#entered + 1] = field
  entered[#entered + 1] = record
end

-- Writes the records. One call, or none if nothing was entered.
local function write_dedupe(partition, dedupe)
  if not dedupe.entered[1] then return end
  redis_call('HSET', dedupe_key(partition.prefix, dedupe.bucket), unpack(dedupe.entered))
  if tonumber(dedupe.in_use) ~= dedupe.bucket then
    open_bucket(partition.prefix, dedupe.in_use, dedupe.before, dedupe.bucket, dedupe.window)
  end
end

-- The block keeps its names local: no later file uses them, and Lua has room for 200 in all.
do

-- first_sends: finds the outcome of earlier tries of sends that would be refused now. Returns `duplicate
-- <id>` and perhaps a time, `different`, or an empty text if there is no record. Four calls; writes nothing.
local function first_sends(keys, arguments)
  local sends = {}
  for at = 2, #arguments, 2 do
    sends[#sends + 1] = { field = arguments[at], fingerprint = arguments[at + 1] }
  end
  local dedupe = read_dedupe(read_partition(keys, {}), sends, tonumber(arguments[1]))
  local found = {}
  for index, send in ipairs(sends) do found[index] = find_earlier(dedupe, send.field, send.fingerprint) or '' end
  return found
end

register('first_sends', first_sends, { 'no-writes' })

end
