-- Ids. An id is `<unix ms>-<partition * 4096 + sequence>`, and its halves stay apart: as one number it has 63
-- bits, and Lua's numbers are doubles, which would lose its low bits.

local EPOCH_MS = 1704067200000 -- 2024-01-01: where the milliseconds of a message id begin
local SEQUENCES = 4096
local PER_MS = 4194304 -- ids of a millisecond, over all partitions
local NO_ID = '0-0'

local function parse_id(id)
  local ms, low = string.match(id, '^(%d+)%-(%d+)$')
  return tonumber(ms), tonumber(low)
end

-- Gives the milliseconds alone, which have 13 digits from 2001 to 2286; 0 for `0-0`. A text that begins with
-- an id works as well.
local function ms_of(id) return tonumber(string.sub(id, 1, 13)) or 0 end

-- Formatting a number costs as much as a call of Redis. So these texts are remembered: those of the lower
-- halves, which come again and again, up to a limit; those of the milliseconds of a second; and that of the
-- latest second.
local LOW_TEXTS_MAX = 8192
local low_texts, low_text_count = {}, 0
local millisecond_texts = {}
local written_second, second_digits, written_ms, ms_digits

local function low_text_of(low)
  local text = low_texts[low]
  if text then return text end
  text = string.format('%d', low)
  if low_text_count < LOW_TEXTS_MAX then
    low_texts[low], low_text_count = text, low_text_count + 1
  end
  return text
end

local function write_ms(ms)
  local millisecond = ms % 1000
  if ms - millisecond ~= written_second then
    written_second, second_digits = ms - millisecond, string.format('%d', (ms - millisecond) / 1000)
  end
  written_ms, ms_digits = ms, millisecond_texts[millisecond]
  if not ms_digits then
    ms_digits = string.format('%03d-', millisecond)
    millisecond_texts[millisecond] = ms_digits
  end
end

local function id_text(ms, low)
  if ms ~= written_ms then write_ms(ms) end
  return second_digits .. ms_digits .. (low_texts[low] or low_text_of(low))
end

-- Gives the beginning that all ids of a millisecond share.
local function id_beginning(ms)
  if ms ~= written_ms then write_ms(ms) end
  return second_digits .. ms_digits
end

local function is_before(id, other)
  local ms, low = parse_id(id)
  local other_ms, other_low = parse_id(other)
  return ms < other_ms or (ms == other_ms and low < other_low)
end

-- Decimal ids have as many bits, too, so they are compared as texts.
local function is_decimal_before(id, other)
  if #id ~= #other then return #id < #other end
  return id < other
end

-- Names the history of the data in which this Redis gives ids, by the beginning of the process's own name.
-- The name is another one after a restart, and on a replica that has been promoted; either may lack the last
-- writes of the process before. The replication id would not do: it also changes in a running Redis, for
-- example when a backup is made.
local HISTORY_DIGITS = 8
local history

local function current_history()
  history = history or string.sub(string.match(redis_call('INFO', 'server'), 'run_id:(%x+)') or '', 1, HISTORY_DIGITS)
  return history
end

-- Ids leap so far if the data may lack its last writes. The lost writes gave ids up to the time at which they
-- were lost. They gave later ids only if the clock that the ids were made from was ahead of today's clock by
-- more than this.
local LEAP_MS = 5000

-- Gives the time from which ids are made, in milliseconds. It never goes back in this process, over all
-- partitions. So ids of different partitions are in the order in which they were given, to the millisecond.
-- If the clock was set back, or ids have leapt, the time goes on from its old value, ahead of the clock, and
-- loses a tenth of the time that passes until both agree.
local began_ms, latest_ms, ahead_ms, ahead_since_ms = nil, 0, 0, 0

local function run_ahead(now, time)
  ahead_ms, ahead_since_ms, latest_ms = time - now, now, time
  return time
end

local function node_time(now)
  began_ms = began_ms or now
  local time = now
  if ahead_ms > 0 then
    time = now + math.max(0, math.floor(ahead_ms - math.max(0, now - ahead_since_ms) / 10))
  end
  if time < latest_ms then return run_ahead(now, latest_ms) end
  latest_ms = time
  return time
end

-- Gives the time after a leap beyond all ids that the lost part of the data may have. That part ended when
-- this Redis began. `last_ms` is of the last id that is known. `more_ms` is a random number: with a clock
-- that is behind, the Redis before may have leapt from the same id, and its ids must not be given again.
local function leap(now, last_ms, more_ms)
  local time = math.max(began_ms, last_ms) + LEAP_MS + more_ms
  return time > latest_ms and run_ahead(now, time) or latest_ms
end

local second_text, second_ms

-- Gives four values: the time that a partition's ids are made from now, never before its last one; the
-- microsecond of the clock's second; whether the present history is another one than `known`; and the clock's
-- own millisecond. One call.
--
-- `last_ms` is of the partition's last id, 0 if it has none; `known` is the history in which that id was
-- given.
local function partition_time(last_ms, known)
  local time = redis_call('TIME')
  -- Parsing a number costs as much as formatting one.
  local microsecond = time[2] + 0
  if time[1] ~= second_text then second_text, second_ms = time[1], time[1] * 1000 end
  local now = second_ms + (microsecond - microsecond % 1000) / 1000
  if now < EPOCH_MS then now = EPOCH_MS end
  local ids_from = node_time(now)
  -- After FUNCTION FLUSH this process has forgotten that its ids run ahead. Another partition must not be
  -- given earlier ids: a reader who marks all entries up to an id of this one would mark those as well.
  if last_ms > ids_from then ids_from = run_ahead(now, last_ms) end
  -- The lost part of this Redis's data may have given ids after the last one that is known.
  local is_another = known ~= current_history()
  if is_another and last_ms > 0 then ids_from = leap(now, last_ms, microsecond % 1000) end
  return ids_from, microsecond, is_another, now
end

-- Gives the id after one of `ms` and `low`: now, or right after it if the clock has not moved on since, or
-- was set back. A sequence that runs over borrows the next millisecond. `base` is the first sequence of the
-- partition.
--
-- Each history begins the ids of a millisecond with another sequence. While an old master does not know of the new one, both
-- give ids of the same milliseconds. If both began with 0, two notifications would have one id, and a device that was shown
-- the first would take the second for known.
local next_id
do
  local BEGINNINGS = 2048 -- half of the sequences, so that as many are left
  local beginning

  function next_id(now, ms, low, base)
    if now > ms then
      beginning = beginning or (tonumber(string.sub(current_history(), 1, 4), 16) or 0) % BEGINNINGS
      return now, base + beginning
    end
    if low < base + SEQUENCES - 1 then return ms, low + 1 end
    return ms + 1, base
  end
end

-- Parses a space's field of the hash: the last entry of its log, followed by the id up to which entries are
-- lost, if any are.
local function parse_end(text)
  if not text then return NO_ID, nil end
  if #text <= 30 then return text, nil end
  return string.match(text, '^(%S+) (%S+)$')
end

local function end_text(last, lost) return lost and last .. ' ' .. lost or last end

-- Reads the last id of a partition, and the last entries of some of its spaces. The caller takes ids and says
-- messages with the table that is returned, and writes it once at the end (`write_partition`). An incomplete
-- partition is refused. Two calls.
local function read_partition(keys, spaces)
  local known = know_partition(keys)
  local prefix, wanted = known.prefix, { 'last', 'dedupe', 'history', 'copies' }
  for index, space in ipairs(spaces) do wanted[index + 4] = space end
  local found = read_fields(partition_key(prefix), wanted)
  if not found[1] then refuse_incomplete_partition() end
  local partition = {
    prefix = prefix,
    base = known.number * SEQUENCES,
    last = found[1],
    buckets = found[2],
    copies = found[4],
    last_of = {},
    lost_of = {},
    slice_of = {},
    count_of = {},
    to_trim = {},
    changed = {},
    said = {},
  }
  for index, space in ipairs(spaces) do
    partition.last_of[space], partition.lost_of[space] = parse_end(found[index + 4])
  end
  partition.ms, partition.low = parse_id(partition.last)
  partition.before, partition.history = partition.last, found[3]
  -- The count of appended entries starts at a random number.
  local _
  partition.now, partition.appended, _, partition.clock = partition_time(partition.ms, partition.history)
  return partition
end

-- Notes that the partition gives ids in another history than the one that `ended`, and which ids were lost,
-- for readers who stand at one of them. A rewind is the name of the history that ended, the last id that was
-- kept, and the first one given since. If the clock was set back as well, lost ids may be later than those
-- given now. Then only the history's name, which a cursor has, tells them apart.
--
-- Beyond REWINDS_MAX the oldest two become one. A reader who stands between them is shown some entries again,
-- and told so.
local REWINDS_MAX = 16

local function note_history(prefix, ended, kept, first)
  local current, words = current_history(), {}
  for word in string.gmatch(redis_call('HGET', partition_key(prefix), 'rewound') or '', '%S+') do
    words[#words + 1] = word
  end
  -- A Redis may be demoted and promoted again. Its history goes on then, so it must not count as one that has
  -- ended.
  for index = 1, #words, 3 do
    if words[index] == current then words[index] = '-' end
  end
  words[#words + 1] = ended or '-'
  words[#words + 1] = kept
  words[#words + 1] = first
  if #words > 3 * REWINDS_MAX then
    -- A reader who stands before the first id that was ever kept has no entry to go back to.
    local first_gone = 1
    if words[2] ~= NO_ID then words[1], first_gone = words[4], 3 end
    for _ = 1, 3 do table.remove(words, first_gone) end
  end
  make_table(partition_key(prefix))
  redis_call('HSET', partition_key(prefix), 'history', current, 'rewound', table.concat(words, ' '))
end

local function take_id(partition)
  partition.ms, partition.low = next_id(partition.now, partition.ms, partition.low, partition.base)
  partition.last = id_text(partition.ms, partition.low)
  partition.first = partition.first or partition.last
  return partition.last
end

-- Gives the clock's time as a text if the id of these milliseconds is ahead of it, and so does not say when
-- its entry was appended; false otherwise.
local function time_beside_id(ms, clock) return ms ~= clock and string.format('%d', clock) end

-- Notes the space in the hash of the partition, with the last entry of its log.
local function note_space(partition, space) partition.changed[space] = true end

-- Writes the changed fields. One call; none if nothing has changed, and two more if another history begins.
local function write_partition(partition)
  local fields = {}
  if partition.last ~= partition.before then
    fields = { 'last', partition.last }
    if partition.history ~= current_history() then
      note_history(partition.prefix, partition.history, partition.before, partition.first)
    end
  end
  for space in pairs(partition.changed) do
    fields[#fields + 1] = space
    fields[#fields + 1] = end_text(partition.last_of[space], partition.lost_of[space])
  end
  call_in_chunks('HSET', partition_key(partition.prefix), fields)
end

-- The block keeps its names local: no later file uses them, and Lua has room for 200 in all.
do

-- begin_history: notes a history that the partition has not seen yet, if the partition has ever given an id.
local function begin_history(keys)
  local partition = read_partition(keys, {})
  if partition.last == NO_ID or partition.history == current_history() then return 0 end
  take_id(partition)
  write_partition(partition)
  return 1
end

register('begin_history', begin_history, FREES_MEMORY)

end
