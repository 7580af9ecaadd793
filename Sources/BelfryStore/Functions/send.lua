-- Sends: entries of one space and nothing else, which is what nearly all transactions are. What such a send comes to is
-- what `commit` would make of it, at a third of its cost: arguments stand in fixed places, and no table is made that
-- can be done without. The rules that both go by are those of the files before, called by both.
--
-- send, one entry; calls of Redis:
--
--   1 for each record that it relies on
--   2 the hash of the partition, and the time
--   2 the dedupe record, if the sender gave an id; 1 more in a partition that has one bucket only
--   1 the member count, if the audience depends on it
--   1 append, and those of `tend_log`
--   1 the hash of the partition
--   1 publish
--
-- So a user's with an id is 10, a trusted caller's without one 7. send_many, several of one partition, in sections: those
-- to one space, one after the other, that rely on the same records and have the same audience:
--
--   2 the hash of the partition, and the time
--   1 for each dedupe bucket, and 1 to enter new records
--   1 for each record that a section relies on, 1 for each send that relies on its sender's own
--   1 the member count, for each section
--   1 append for each, and those of `tend_log`
--   1 the hash of the partition
--   1 publish for each section, and for each 8 KB
--
-- The answer is lines: the partition's last id before, empty where no id was taken, then for each send its id, or the
-- words in which `commit` refuses.

-- What a broker says of its limits in one text is taken apart when it is another one than in the call before.
local limits_text, dedupe_window, entries_per_space, subscription_threshold, kept_ms

local function take_limits(text)
  if text == limits_text then return end
  local window, entries, threshold, retention = string.match(text, '^(%-?%d+) (%-?%d+) (%-?%d+) (%-?%d+)$')
  if not window then error('belfry: the limits are four numbers') end
  limits_text, dedupe_window, entries_per_space = text, tonumber(window), entries
  subscription_threshold, kept_ms = tonumber(threshold), tonumber(retention)
end

-- Whether the settings, and the records named from `at` through `last` by a table, a field and a text each, are still
-- what was read. `*` stands for settings that nothing depends on.
local function are_as_read(prefix, space, settings, arguments, at, last)
  if settings ~= '*' and (redis_call('HGET', table_key(prefix, space, 'settings'), 'settings') or '') ~= settings then
    return false
  end
  for index = at, last, 3 do
    local text = redis_call('HGET', table_key(prefix, space, arguments[index]), arguments[index + 1]) or ''
    if text ~= arguments[index + 2] then return false end
  end
  return true
end

-- The last id that was given here in each partition, and its halves: to take it apart costs as much as two calls.
local given, given_ms, given_low = {}, {}, {}

local function halves_of(prefix, last)
  if given[prefix] == last then return given_ms[prefix], given_low[prefix] end
  return parse_id(last)
end

local function note_given(prefix, id, ms, low)
  given[prefix], given_ms[prefix], given_low[prefix] = id, ms, low
end

-- What a dedupe bucket remembers of the name, if anything.
local function recall(prefix, bucket, field, now)
  local record = redis_call('HGET', dedupe_key(prefix, bucket), field)
  return is_remembered(record, now, dedupe_window) and record
end

-- Enters the send among those that may be repeated. Gives the record of the one that it repeats, and nothing is entered
-- then; or else the key in which it was entered.
local function enter_send(prefix, field, record, now, in_use, before)
  local bucket, name = bucket_of(now, dedupe_window)
  local is_in_use = in_use == name
  local earlier = before and recall(prefix, before, field, now)
    or in_use and not is_in_use and recall(prefix, in_use, field, now)
  if earlier then return earlier end
  local key = dedupe_key(prefix, name)
  if redis_call('HSETNX', key, field, record) == 0 then
    earlier = recall(prefix, name, field, now)
    if earlier then return earlier end
    redis_call('HSET', key, field, record)
  end
  if not is_in_use then open_bucket(prefix, in_use, before, bucket, dedupe_window) end
  return nil, key
end

-- Appends the entry. Gives up to where entries have been lost by this, and what went wrong.
local function append_send(prefix, space, id, ms, last, last_bucket, appended, audience, notification)
  local reply = redis.pcall('XADD', log_key(prefix, space), id, 'audience', audience, 'notification', notification)
  if type(reply) == 'table' then return nil, reply end
  local bucket = time_bucket(ms)
  if bucket == last_bucket and appended % ENTRIES_PER_TRIM ~= 0 then return nil, nil end
  local is_tended, lost = pcall(
    tend_log, prefix, space, id, bucket, last, last_bucket, appended, entries_per_space, kept_ms)
  if is_tended then return lost, nil end
  return nil, lost
end

local function decided_audience(prefix, space, audience)
  if not is_by_threshold(audience) then return audience end
  return stamped(audience, redis_call('HLEN', table_key(prefix, space, 'roster')), subscription_threshold)
end

-- Numbers in words, taken apart once: the shapes of calls come again and again.
local SHAPES_MAX = 4096
local shapes, shape_count = {}, 0

local function shape_of(text)
  local shape = shapes[text]
  if shape then return shape end
  shape = {}
  for word in string.gmatch(text, '%d+') do shape[#shape + 1] = tonumber(word) end
  if shape_count < SHAPES_MAX then
    shapes[text], shape_count = shape, shape_count + 1
  end
  return shape
end

-- Whether the sender's own record is what was read.
local function is_sender_as_read(prefix, space, sender, record)
  return (redis_call('HGET', table_key(prefix, space, 'roster'), sender) or '') == record
end

-- Arguments: those of a call of send_many with one send, less the numbers of sections and fields.
local function send(keys, arguments)
  local prefix, number = open_partition(keys)
  local space, audience, count = arguments[2], arguments[3], #arguments
  local shape = shape_of(arguments[count])
  local at, width = 5 + 3 * shape[3], shape[2]
  local notification, fingerprint, field = arguments[at], arguments[at + 1], nil
  if at + width < count then field = arguments[count - 1] end
  take_limits(arguments[1])
  if not are_as_read(prefix, space, arguments[4], arguments, 5, at - 1)
    or width > 2 and not is_sender_as_read(prefix, space, arguments[at + 2], arguments[at + 3])
  then
    return '\nconflict'
  end

  local found = field and redis_call('HMGET', keys[1], 'last', 'history', space, 'dedupe', 'dedupe-before')
    or redis_call('HMGET', keys[1], 'last', 'history', space)
  local before, history = found[1] or NO_ID, found[2]
  local before_ms, before_low = halves_of(prefix, before)
  local now, microsecond = partition_time(before_ms, history)
  local ms, low = next_id(now, before_ms, before_low, number * SEQUENCES)
  local id, earlier, entered = id_text(ms, low), nil, nil
  if field then
    earlier, entered = enter_send(prefix, field, record_text(id, fingerprint), now, found[4], found[5])
    if earlier then return '\n' .. repeated(earlier, fingerprint) end
  end

  audience = decided_audience(prefix, space, audience)
  local last, lost = parse_end(found[3])
  local last_bucket = time_bucket(last == before and before_ms or ms_of(last))
  local lost_now, problem = append_send(
    prefix, space, id, ms, last, last_bucket, microsecond, audience, notification)
  if problem then
    -- What was not done must not be remembered as done. The id may stand in the log.
    if entered then redis_call('HDEL', entered, field) end
    redis_call('HSET', keys[1], 'last', id)
  else
    redis_call('HSET', keys[1], 'last', id, space, end_text(id, lost_now or lost))
  end
  note_given(prefix, id, ms, low)
  if history ~= current_history() then note_history(prefix, history, before, id) end
  if problem then return '\n' .. failed(problem) end
  publish(prefix, space, appended_header(id, last, audience) .. '\n' .. notification)
  return before .. '\n' .. id
end

-- What a dedupe bucket remembers of the names, so many arguments from `first` on.
local function recall_many(prefix, arguments, first, count, bucket)
  if count == 0 or not bucket then return {} end
  return redis_call('HMGET', dedupe_key(prefix, bucket), unpack(arguments, first, first + count - 1))
end

-- What is remembered of the name of the send with this number: of one in this call, or in a dedupe bucket.
local function find_known(call, number, field)
  local record = call.entered_of[field]
  if record then return record end
  record = call.known[number]
  if is_remembered(record, call.now, dedupe_window) then return record end
  record = call.known_before[number]
  return is_remembered(record, call.now, dedupe_window) and record
end

local function enter_many(call, in_use, before)
  if not call.entered[1] then return end
  local bucket, name = bucket_of(call.now, dedupe_window)
  redis_call('HSET', dedupe_key(call.prefix, name), unpack(call.entered))
  if in_use ~= name then open_bucket(call.prefix, in_use, before, bucket, dedupe_window) end
end

-- The sections: where the arguments of each begin, how many sends there are in it, of how many arguments each, and how
-- many records all of them rely on. Gives where the dedupe fields begin, too.
local function read_sections(arguments, count)
  local sections, at = {}, 2
  for index = #arguments - count, #arguments - 1 do
    local shape = shape_of(arguments[index])
    sections[#sections + 1] = { space = arguments[at], at = at, count = shape[1], width = shape[2], records = shape[3] }
    at = at + 3 + 3 * shape[3] + shape[1] * shape[2]
  end
  return sections, at
end

-- What the hash of the partition says, and where the logs of the sections' spaces end.
local function begin_many(prefix, number, key, sections)
  local wanted = { 'last', 'history', 'dedupe', 'dedupe-before' }
  for index, section in ipairs(sections) do wanted[index + 4] = section.space end
  local found = redis_call('HMGET', key, unpack(wanted))
  local before = found[1] or NO_ID
  local call = {
    prefix = prefix, key = key, base = number * SEQUENCES, before = before, history = found[2], in_use = found[3],
    bucket_before = found[4], last_of = {}, lost_of = {}, bucket_of = {}, changed = {}, said = {}, answer = { before },
    entered = {}, entered_of = {},
  }
  call.ms, call.low = halves_of(prefix, before)
  for index, section in ipairs(sections) do
    local space, last = section.space, nil
    last, call.lost_of[space] = parse_end(found[index + 4])
    call.last_of[space] = last
    call.bucket_of[space] = time_bucket(last == before and call.ms or ms_of(last))
  end
  call.now, call.appended = partition_time(call.ms, call.history)
  return call
end

-- Appends a section's sends, whose arguments begin at `first`, and of which the one before has `number`. What changes with
-- each stands in locals: to look into a table costs as much as a tenth of an entry.
local function append_section(call, arguments, section, first, number, audience)
  local prefix, space, width, said, answer = call.prefix, section.space, section.width, call.said, call.answer
  local entered, entered_of, known, known_before = call.entered, call.entered_of, call.known, call.known_before
  local names, now, base, ms, low = call.names, call.now, call.base, call.ms, call.low
  local last, bucket, lost, id = call.last_of[space], call.bucket_of[space], nil, nil
  for at = first, first + (section.count - 1) * width, width do
    number = number + 1
    local field, outcome = names and arguments[names + number], nil
    if field == '' then field = nil end
    if width > 2 and not is_sender_as_read(prefix, space, arguments[at + 2], arguments[at + 3]) then
      outcome = 'conflict'
    elseif field and (known[number] or known_before[number] or entered_of[field]) then
      local record = find_known(call, number, field)
      outcome = record and repeated(record, arguments[at + 1])
    end
    if not outcome then
      local notification, lost_now, problem = arguments[at], nil, nil
      ms, low = next_id(now, ms, low, base)
      id = id_text(ms, low)
      lost_now, problem = append_send(
        prefix, space, id, ms, last, bucket, call.appended + number, audience, notification)
      if problem then
        outcome = failed(problem)
      else
        outcome = id
        say(said, space, appended_header(id, last, audience), notification)
        last, bucket, lost = id, time_bucket(ms), lost_now or lost
        if field then
          local record = record_text(id, arguments[at + 1])
          entered_of[field] = record
          entered[#entered + 1] = field
          entered[#entered + 1] = record
        end
      end
      call.first = call.first or id
    end
    answer[number + 1] = outcome
  end
  call.ms, call.low, call.last = ms, low, id or call.last
  if last ~= call.last_of[space] then
    call.last_of[space], call.bucket_of[space], call.changed[space] = last, bucket, true
    call.lost_of[space] = lost or call.lost_of[space]
  end
end

local function send_section(call, arguments, section, number)
  local space, at = section.space, section.at
  local first = at + 3 + 3 * section.records
  if are_as_read(call.prefix, space, arguments[at + 2], arguments, at + 3, first - 1) then
    local audience = decided_audience(call.prefix, space, arguments[at + 1])
    return append_section(call, arguments, section, first, number, audience)
  end
  for index = number + 1, number + section.count do call.answer[index + 1] = 'conflict' end
end

-- What is written and said once for all of them.
local function finish_many(call)
  if not call.last then return end
  enter_many(call, call.in_use, call.bucket_before)
  local fields = { 'last', call.last }
  for space in pairs(call.changed) do
    fields[#fields + 1] = space
    fields[#fields + 1] = end_text(call.last_of[space], call.lost_of[space])
  end
  redis_call('HSET', call.key, unpack(fields))
  note_given(call.prefix, call.last, call.ms, call.low)
  if call.history ~= current_history() then note_history(call.prefix, call.history, call.before, call.first) end
  publish_said(call.prefix, call.said)
end

-- Arguments: the limits; of each section the space, the audience, the settings, the records that all of it relies on, and
-- of each send the notification, the fingerprint and, where there are four, the sender's accid and record; the dedupe fields of all sends (empty for one without an id), or none; the shape of each section in
-- three words; how many sections and dedupe fields there are, in two.
local function send_many(keys, arguments)
  local prefix, number = open_partition(keys)
  local totals = shape_of(arguments[#arguments])
  take_limits(arguments[1])
  local sections, first_field = read_sections(arguments, totals[1])
  local call = begin_many(prefix, number, keys[1], sections)
  call.known = recall_many(prefix, arguments, first_field, totals[2], call.in_use)
  call.known_before = recall_many(prefix, arguments, first_field, totals[2], call.bucket_before)
  call.names = totals[2] > 0 and first_field - 1
  local number = 0
  for _, section in ipairs(sections) do
    send_section(call, arguments, section, number)
    number = number + section.count
  end
  finish_many(call)
  return table.concat(call.answer, '\n')
end

register('send', send)
register('send_many', send_many)
