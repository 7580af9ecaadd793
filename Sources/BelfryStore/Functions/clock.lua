-- Ids. One is `<unix ms>-<partition * 4096 + sequence>`, and its halves stay apart: as one number it has 63
-- bits, and Lua's numbers are doubles, which would lose its low bits.

local EPOCH_MS = 1704067200000 -- 2024-01-01: where the milliseconds of a message id begin
local SEQUENCES = 4096
local PER_MS = 4194304 -- ids of a millisecond, over all partitions
local NO_ID = '0-0'

local function parse_id(id)
  local ms, low = string.match(id, '^(%d+)%-(%d+)$')
  return tonumber(ms), tonumber(low)
end

local function is_before(id, other)
  local ms, low = parse_id(id)
  local other_ms, other_low = parse_id(other)
  return ms < other_ms or (ms == other_ms and low < other_low)
end

-- Decimal ids are as many bits: they are compared as texts.
local function is_decimal_before(id, other)
  if #id ~= #other then return #id < #other end
  return id < other
end

-- The Redis that this runs in, as it calls the line of its data: another one after a restart, and on a replica that has
-- been promoted. Looked up ten times a second at most.
local LINE_LIFETIME_MS = 100
local line, line_read_at = nil, 0

local function current_line(now)
  if not line or now - line_read_at > LINE_LIFETIME_MS or now < line_read_at then
    line = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or ''
    line_read_at = now
  end
  return line
end

-- How far ids leap where the data may lack its last writes. Those gave ids up to the time at which they were lost;
-- more than that only if the clock that they were made from was ahead of today's by more than this.
local LEAP_MS = 5000

-- The time that ids are made from, in milliseconds. In this process it never goes back, in whichever partition it is
-- asked for: a Redis whose clock was set back, or whose ids have leapt, goes on from where it was, ahead of its clock,
-- and comes back to it by a tenth of the time that passes. So ids of different partitions stay in the order in which they
-- were given, as nearly as milliseconds tell it.
local began_ms, latest_ms, ahead_ms, ahead_since_ms = nil, 0, 0, 0

local function run_ahead(now, time)
  ahead_ms, ahead_since_ms, latest_ms = time - now, now, time
  return time
end

local function node_time(now)
  began_ms = began_ms or now
  local ahead = ahead_ms - math.max(0, now - ahead_since_ms) / 10
  local time = now + math.max(0, math.floor(ahead))
  if time < latest_ms then return run_ahead(now, latest_ms) end
  latest_ms = time
  return time
end

-- The same after a leap beyond what this Redis has lost of its data, which ended when it began. `last_ms` is of the last
-- id that is known.
local function leap(now, last_ms)
  local time = math.max(began_ms, last_ms) + LEAP_MS
  return time > latest_ms and run_ahead(now, time) or latest_ms
end

-- Where the ids of a partition stand, and the last entries of some of its spaces. Whoever reads it takes ids and
-- says things, and writes it once in the end, for whatever it did in between. Two calls.
local function read_clock(prefix, partition, spaces)
  local wanted = { 'last', 'dedupe', 'line', 'dedupe-before' }
  for index, space in ipairs(spaces) do wanted[index + 4] = space end
  local found = read_fields(clock_key(prefix), wanted)
  local time = redis.call('TIME')
  local now = math.max(time[1] * 1000 + math.floor(time[2] / 1000), EPOCH_MS)
  local clock = {
    prefix = prefix,
    now = node_time(now),
    base = partition * SEQUENCES,
    last = found[1] or NO_ID,
    bucket = found[2],
    bucket_before = found[4],
    -- Entries appended, from a number that chance gives.
    appended = tonumber(time[2]),
    last_of = {},
    lost_of = {},
    where_of = {},
    changed = {},
    said = {},
  }
  for index, space in ipairs(spaces) do
    local last = found[index + 4] or NO_ID
    if #last > 30 then last, clock.lost_of[space] = string.match(last, '^(%S+) (%S+)$') end
    clock.last_of[space] = last
  end
  clock.ms, clock.low = parse_id(clock.last)
  clock.before = clock.last
  local here = current_line(now)
  if found[3] ~= here then
    clock.line = here
    -- What this Redis has lost of its data may have given ids after the last one that is known.
    if clock.last ~= NO_ID then clock.now = leap(now, clock.ms) end
  end
  return clock
end

-- Which ids were lost, for readers who stand at one of them: pairs of the last that was kept and the first that was
-- given since. Of the oldest, two become one, which repeats to a reader in between what they were shown, and tells
-- them so.
local REWINDS_MAX = 16

local function note_rewind(prefix, kept, first)
  local words = {}
  for word in string.gmatch(redis.call('HGET', clock_key(prefix), 'rewound') or '', '%S+') do
    words[#words + 1] = word
  end
  words[#words + 1] = kept
  words[#words + 1] = first
  if #words > 2 * REWINDS_MAX then
    -- Who stands before the first id that was ever kept has no entry to go back to.
    local oldest = words[1] == NO_ID and 1 or 2
    table.remove(words, oldest)
    table.remove(words, oldest)
  end
  redis.call('HSET', clock_key(prefix), 'rewound', table.concat(words, ' '))
end

-- The next id: now, or right after the last one if the clock has not moved on since, or was set back. A
-- sequence that runs over borrows the next millisecond.
local function take_id(clock)
  if clock.now > clock.ms then
    clock.ms, clock.low = clock.now, clock.base
  elseif clock.low < clock.base + SEQUENCES - 1 then
    clock.low = clock.low + 1
  else
    clock.ms, clock.low = clock.ms + 1, clock.base
  end
  clock.last = string.format('%d-%d', clock.ms, clock.low)
  clock.first = clock.first or clock.last
  return clock.last
end

-- That the space stands in the clock, with the last entry there is of it.
local function enter_space(clock, space) clock.changed[space] = true end

-- One call; none if nothing has changed.
local function write_clock(clock)
  local fields = {}
  if clock.last ~= clock.before then
    fields = { 'last', clock.last }
    if clock.line then
      fields = { 'last', clock.last, 'line', clock.line }
      note_rewind(clock.prefix, clock.before, clock.first)
    end
  end
  for space in pairs(clock.changed) do
    fields[#fields + 1] = space
    fields[#fields + 1] = clock.lost_of[space] and clock.last_of[space] .. ' ' .. clock.lost_of[space]
      or clock.last_of[space]
  end
  call_in_chunks('HSET', clock_key(clock.prefix), fields)
end
