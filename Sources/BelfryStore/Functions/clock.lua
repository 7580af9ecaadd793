-- Ids. One is `<unix ms>-<partition * 4096 + sequence>`, and its halves stay apart: as one number it has 63
-- bits, and Lua's numbers are doubles, which would lose its low bits.

local EPOCH_MS = 1704067200000 -- 2024-01-01: where the milliseconds of a message id begin
local SEQUENCES = 4096
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

-- Where the ids of a partition stand, and the last entries of some of its spaces. Whoever reads it takes ids and
-- says things, and writes it once in the end, for whatever it did in between. Two calls.
local function read_clock(prefix, partition, spaces)
  local found = redis.call('HMGET', clock_key(prefix), 'last', 'dedupe', unpack(spaces))
  local time = redis.call('TIME')
  local clock = {
    prefix = prefix,
    now = math.max(time[1] * 1000 + math.floor(time[2] / 1000), EPOCH_MS),
    base = partition * SEQUENCES,
    last = found[1] or NO_ID,
    bucket = found[2],
    last_of = {},
    changed = {},
    said = {},
  }
  for index, space in ipairs(spaces) do clock.last_of[space] = found[index + 2] or NO_ID end
  clock.ms, clock.low = parse_id(clock.last)
  clock.before = clock.last
  return clock
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
  return clock.last
end

-- That the space stands in the clock, with the last entry there is of it.
local function enter_space(clock, space) clock.changed[space] = true end

-- One call; none if nothing has changed.
local function write_clock(clock)
  local fields = {}
  if clock.last ~= clock.before then fields = { 'last', clock.last } end
  for space in pairs(clock.changed) do
    fields[#fields + 1] = space
    fields[#fields + 1] = clock.last_of[space]
  end
  if fields[1] then redis.call('HSET', clock_key(clock.prefix), unpack(fields)) end
end
