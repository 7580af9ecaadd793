-- Sends: entries of one space and nothing else, as nearly all transactions are. The outcome of such a send is
-- the same as `commit` would give, at a third of its cost: arguments stand in fixed places, and no
-- unnecessary table is made. The rules that both follow are in the files before, and both call them.
--
-- send, one entry; calls of Redis:
--
--   1 for each record that it relies on
--   2 the hash of the partition, and the time
--   2 the dedupe record, if the sender gave an id; 1 more in a partition that has one bucket only
--   1 the member count, if the audience depends on it
--   1 append, those of `begin_slice`, and one in 32 times those of `trim_to_length`
--   1 the hash of the partition
--   1 publish
--
-- So a user's send with an id takes 10 calls, and a trusted caller's without one 7. send_many takes several
-- sends of one partition, in sections. A section has sends to one space, one after the other, that rely on
-- the same records and have the same audience. Calls of Redis:
--
--   2 the hash of the partition, and the time
--   1 for each dedupe bucket, and 1 to enter new records
--   1 for each record that a section relies on, 1 for each send that relies on its sender's own
--   1 the member count, for each section
--   1 append for each, those of `begin_slice`, and one in 32 times, once for a section, those of `trim_to_length`
--   1 the hash of the partition
--   1 for the number of listeners, with 16 sends or more
--   1 publish for each run, after that question only if a broker listens
--
-- A run has the sends of a section whose ids follow one another. It is one live message, of 8 KB at most, and
-- one line of the answer. If many sends are done and nobody would hear the message, it is not made: it is a
-- tenth of their cost. The number counts the brokers that listen at this node, as every broker does. A broker
-- that listens at another node has to read the log in any case.
--
-- A send is done as a whole or not at all: everything that it depends on is read before anything is written,
-- and if a step after an append fails, the append is undone. A section that cannot be judged, say because of
-- a key of a wrong type, fails by itself.
--
-- The answer is lines. The first has the partition's last id before, empty if no id was taken, and after it
-- the time at which the sends were appended, if ids do not say it. Then each send has a line with its id, or
-- with the words by which `commit` refuses. A run has one line for all its sends: the first one's id, and how
-- many there are.

-- Numbers in words are parsed once: the same ones come again and again.
local NUMBERS_MAX = 4096
local numbers_of, numbers_count = {}, 0

local function read_numbers(text)
  local numbers = numbers_of[text]
  if numbers then return numbers end
  numbers = {}
  for word in string.gmatch(text, '%-?%d+') do numbers[#numbers + 1] = tonumber(word) end
  if numbers_count < NUMBERS_MAX then
    numbers_of[text], numbers_count = numbers, numbers_count + 1
  end
  return numbers
end

-- The limits of the broker that calls: the dedupe window, entries of a space, the subscription threshold, retention.
local limits

-- True if the settings are still the ones that the caller read, and so are the records from `at` through
-- `last`, each named by a table, a field and a text. `*` stands for settings that nothing depends on.
local function are_as_read(keys, space, settings, arguments, at, last)
  if settings ~= '*' and (redis_call('HGET', keys.settings, 'settings') or '') ~= settings then return false end
  for index = at, last, 3 do
    local text = redis_call('HGET', table_key(keys.prefix, space, arguments[index]), arguments[index + 1]) or ''
    if text ~= arguments[index + 2] then return false end
  end
  return true
end

-- Gives the key of the bucket. Mostly it is the one that the partition was asked for last.
local function bucket_key(partition, bucket)
  if partition.bucket ~= bucket then
    partition.bucket, partition.bucket_key = bucket, dedupe_key(partition.prefix, bucket)
  end
  return partition.bucket_key
end

-- Gives the record that a dedupe bucket has under this name, if it has one within the window.
local function earlier_send(prefix, bucket, field, now)
  local record = redis_call('HGET', dedupe_key(prefix, bucket), field)
  return is_remembered(record, now, limits[1]) and record
end

-- Enters the send, so that a repetition is recognised. If it repeats an earlier send itself, gives the record
-- of that one and enters nothing. Otherwise gives nil and the key in which the send was entered.
local function enter_send(partition, field, record, now, buckets)
  local prefix, in_use, before = partition.prefix, read_buckets(buckets)
  local bucket, name = bucket_of(now, limits[1])
  local is_in_use = in_use == name
  local earlier = before and earlier_send(prefix, before, field, now)
    or in_use and not is_in_use and earlier_send(prefix, in_use, field, now)
  if earlier then return earlier end
  local key = bucket_key(partition, name)
  if redis_call('HSETNX', key, field, record) == 0 then
    earlier = earlier_send(prefix, name, field, now)
    if earlier then return earlier end
    redis_call('HSET', key, field, record)
  end
  if not is_in_use then open_bucket(prefix, in_use, before, bucket, limits[1]) end
  return nil, key
end

-- Does the work that follows the append of an entry: its copy, if the partition has readers of copies, and
-- the upkeep that its log needs at the first entry of a slice of time.
local function follow_append(prefix, space, id, ms, slice, last, last_slice, has_copies, audience, notification)
  if has_copies then copy_entry(prefix, space, id, audience, notification) end
  if slice ~= last_slice then begin_slice(prefix, space, slice, last, limits[4]) end
end

-- Removes an entry that was appended before a later step failed.
local function undo_append(prefix, log, id, has_copies)
  redis_pcall('XDEL', log, id)
  if has_copies then redis_pcall('XDEL', prefix .. 'copies', id) end
end

-- Trims the log after sends. Gives the id up to which entries are now lost, if any are. A trim that fails is
-- tried again with later entries.
local function trim_after_sends(prefix, space, last, count)
  local is_trimmed, lost = pcall(trim_to_length, prefix, space, limits[2], last, count >= ENTRIES_PER_TRIM)
  return is_trimmed and lost or nil
end

local function decided_audience(keys, audience)
  if not is_by_threshold(audience) then return audience end
  return stamped(audience, redis_call('HLEN', keys.roster), limits[3])
end

-- True if the sender's own record is still the one that the caller read.
local function is_sender_as_read(keys, sender, record)
  return (redis_call('HGET', keys.roster, sender) or '') == record
end

-- send takes the arguments of a call of send_many with one send, except the numbers at the end. In their
-- place two numbers follow the limits: whether the send relies on its sender's record, and on how many
-- others.
local function send(keys, arguments)
  local partition = know_partition(keys)
  limits = read_numbers(arguments[1])
  local prefix, key, space, at = partition.prefix, keys[1], arguments[2], 5 + 3 * limits[6]
  local its, after = keys_of_space(prefix, space), at + 1 + 2 * limits[5]
  local notification, field, fingerprint = arguments[at], arguments[after], arguments[after + 1]
  if not are_as_read(its, space, arguments[4], arguments, 5, at - 1)
    or after > at + 1 and not is_sender_as_read(its, arguments[at + 1], arguments[at + 2])
  then
    return '\nconflict'
  end

  local found = field and redis_call('HMGET', key, 'last', 'history', space, 'copies', 'dedupe')
    or redis_call('HMGET', key, 'last', 'history', space, 'copies')
  if not found[1] then refuse_incomplete_partition() end
  local before, history = found[1], found[2]
  -- The last id was parsed when it was given, and that is used again: parsing costs as much as two calls.
  local before_ms, before_low = partition.ms, partition.low
  if before ~= partition.last then before_ms, before_low = parse_id(before) end
  local now, microsecond, is_another_history, clock = partition_time(before_ms, history)
  local ms, low = next_id(now, before_ms, before_low, partition.number * SEQUENCES)
  local time = time_beside_id(ms, clock)
  local audience = decided_audience(its, arguments[3])
  local last, lost = parse_end(found[3])
  local slice, last_slice = time_slice(ms), time_slice(last == before and before_ms or ms_of(last))
  local id, earlier, entered = id_text(ms, low), nil, nil
  if field then
    earlier, entered = enter_send(partition, field, record_text(id, fingerprint, time), now, found[5])
    if earlier then return '\n' .. repeated(earlier, fingerprint) end
  end
  if time then notification = with_time(notification, time) end

  local reply, is_done, problem = redis_pcall('XADD', its.log, id, audience, notification), true, nil
  if reply ~= id then
    is_done, problem = false, reply
  elseif found[4] or slice ~= last_slice then
    is_done, problem = pcall(
      follow_append, prefix, space, id, ms, slice, last, last_slice, found[4], audience, notification)
    if not is_done then undo_append(prefix, its.log, id, found[4]) end
  end
  if not is_done then
    -- A send that was not done must not be remembered as done.
    if entered then redis_call('HDEL', entered, field) end
    redis_call('HSET', key, 'last', id)
  else
    if is_trim_due(microsecond, 1) then lost = trim_after_sends(prefix, space, id, 1) or lost end
    redis_call('HSET', key, 'last', id, space, end_text(id, lost))
  end
  partition.last, partition.ms, partition.low = id, ms, low
  if is_another_history then note_history(prefix, history, before, id) end
  if not is_done then return '\n' .. failed(problem) end
  redis_call('SPUBLISH', its.channel, appended_message(id, last, audience, notification))
  return (time and before .. ' ' .. time or before) .. '\n' .. id
end

-- The texts by which the sends of a call are entered. One table serves all calls: letting a new one grow
-- would cost as much again.
local entered = {}

local function enter_many(call)
  if call.entered_count == 0 then return end
  redis_call('HSET', dedupe_key(call.prefix, call.bucket_name), unpack(entered, 1, call.entered_count))
  if call.in_use ~= call.bucket_name then
    open_bucket(call.prefix, call.in_use, call.bucket_before, call.bucket, limits[1])
  end
end

-- Reads the sections. Each says where its arguments begin, how many sends it has, whether each of them relies
-- on its sender's own record, and how many records all of them rely on. Also gives the place at which the
-- dedupe fields begin.
local function read_sections(arguments, count)
  local sections, at = {}, 2
  for index = #arguments - count, #arguments - 1 do
    local shape = read_numbers(arguments[index])
    local first = at + 3 + 3 * shape[3]
    local number = #sections + 1
    sections[number] = {
      number = number, space = arguments[at], at = at, first = first, count = shape[1],
      senders = shape[2] > 0 and first + shape[1],
    }
    at = first + (1 + 2 * shape[2]) * shape[1]
  end
  return sections, at
end

-- Reads the hash of the partition, with the ends of the logs of the sections' spaces.
local function begin_many(partition, key, sections)
  local wanted = { 'last', 'history', 'dedupe', 'copies' }
  for index, section in ipairs(sections) do wanted[index + 4] = section.space end
  local found = redis_call('HMGET', key, unpack(wanted))
  if not found[1] then refuse_incomplete_partition() end
  local before = found[1]
  local call = {
    partition = partition, prefix = partition.prefix, key = key, base = partition.number * SEQUENCES, before = before,
    history = found[2], copies = found[4], last_of = {}, lost_of = {}, slice_of = {}, changed = {}, answer = { before },
    runs = {}, entered_count = 0, known = {},
  }
  call.in_use, call.bucket_before = read_buckets(found[3])
  call.ms, call.low = parse_id(before)
  for index, section in ipairs(sections) do
    local space, last = section.space, nil
    last, call.lost_of[space] = parse_end(found[index + 4])
    call.last_of[space] = last
    call.slice_of[space] = time_slice(last == before and call.ms or ms_of(last))
  end
  call.now, call.appended, call.is_another_history, call.clock = partition_time(call.ms, call.history)
  return call
end

-- Reads the records of the call's sends from the buckets, also from the bucket that the sends will be entered
-- into. None if no send has a name.
local function read_names(call, arguments, first_field, count)
  call.names, call.count = count > 0 and first_field - 1, count
  call.bucket, call.bucket_name = bucket_of(call.now, limits[1])
  local buckets = { call.in_use or '', call.bucket_before or '' }
  if call.bucket_name ~= call.in_use then buckets[3] = call.bucket_name end
  for _, bucket in ipairs(buckets) do
    if count > 0 and bucket ~= '' then
      call.known[#call.known + 1] = redis_call(
        'HMGET', dedupe_key(call.prefix, bucket), unpack(arguments, first_field, first_field + count - 1))
    end
  end
end

-- Gives the record of the send with this number, if a bucket has one within the window.
local function record_of(call, number)
  for _, known in ipairs(call.known) do
    if known[number] and is_remembered(known[number], call.now, limits[1]) then return known[number] end
  end
end

-- Gives the reason if the send with this number, the section's `index`th from 0, is refused. No call, except
-- for its sender's record.
local function refusal(call, arguments, section, index, number)
  local senders, names = section.senders, call.names
  if senders then
    local account, record = arguments[senders + 2 * index], arguments[senders + 2 * index + 1]
    if not is_sender_as_read(section.keys, account, record) then return 'conflict' end
  end
  if not names or arguments[names + number] == '' then return nil end
  local record = record_of(call, number)
  return record and repeated(record, arguments[names + call.count + number])
end

local function begin_run(call, section, audience, id, last, at)
  local runs, answer = call.runs, call.answer
  local run = { section = section, audience = audience, id = id, last = last, from = at, through = at }
  runs[#runs + 1] = run
  run.line = #answer + 1
  answer[run.line] = id
  return run
end

local function note_end(call, space, last, slice, lost)
  if last == call.last_of[space] then return end
  call.last_of[space], call.slice_of[space], call.changed[space] = last, slice, true
  call.lost_of[space] = lost or call.lost_of[space]
end

-- True if each send of a section has to be checked by itself.
local function is_judged_singly(call, section) return section.senders or call.known[1] end

-- Decides a section's sends, and writes nothing. Sets the audience, and the reasons why sends with some
-- numbers are refused. The send before the section has `number`.
local function judge_section(call, arguments, section, number)
  local at = section.at
  section.keys = keys_of_space(call.prefix, section.space)
  if not are_as_read(section.keys, section.space, arguments[at + 2], arguments, at + 3, section.first - 1) then
    section.refusal = 'conflict'
    return
  end
  section.audience = decided_audience(section.keys, arguments[at + 1])
  if not is_judged_singly(call, section) then return end
  for index = 0, section.count - 1 do
    local outcome = refusal(call, arguments, section, index, number + index + 1)
    if outcome then
      section.refusals = section.refusals or {}
      section.refusals[number + index + 1] = outcome
    end
  end
end

-- Appends a section's sends; the send before it has `number`. Values that change with each send are locals: a
-- table lookup costs as much as a tenth of an entry, and calling a function as much as a twentieth.
local function append_section(call, arguments, section, number)
  local space, audience, names, refusals = section.space, section.audience, call.names, section.refusals
  local now, ms, low, low_max = call.now, call.ms, call.low, call.base + SEQUENCES - 1
  local key, prints, has_copies = section.keys.log, names and names + call.count, call.copies
  local last, last_slice, run, bytes, count = call.last_of[space], call.slice_of[space], nil, 0, 0
  local beginning, slice, id, time, entered_count = nil, nil, nil, nil, call.entered_count
  for at = section.first, section.first + section.count - 1 do
    number = number + 1
    local outcome = refusals and refusals[number]
    if not outcome then
      if run and low < low_max then
        low = low + 1
      else
        ms, low = next_id(now, ms, low, call.base)
        beginning, slice, run = id_beginning(ms), time_slice(ms), nil
        time = time_beside_id(ms, call.clock)
        call.time = call.time or time
      end
      if time then arguments[at] = with_time(arguments[at], time) end
      id = beginning .. (low_texts[low] or low_text_of(low))
      call.given = call.given or id
      outcome = redis_pcall('XADD', key, id, audience, arguments[at])
      if outcome ~= id then
        outcome = failed(outcome)
      elseif has_copies or slice ~= last_slice then
        local is_done, problem = pcall(
          follow_append, call.prefix, space, id, ms, slice, last, last_slice, has_copies, audience, arguments[at])
        if not is_done then
          undo_append(call.prefix, key, id, has_copies)
          outcome = failed(problem)
        end
      end
    end
    if outcome == id then
      bytes = bytes + #arguments[at] + 1
      if run and bytes <= MESSAGE_BYTES then
        run.through = at
      else
        run, bytes = begin_run(call, section, audience, id, last, at), #audience + #arguments[at]
      end
      last, last_slice, count = id, slice, count + 1
      if names and arguments[names + number] ~= '' then
        entered[entered_count + 1] = arguments[names + number]
        entered[entered_count + 2] = record_text(id, arguments[prints + number], time)
        entered_count = entered_count + 2
      end
    else
      run = nil
      call.answer[#call.answer + 1] = outcome
    end
  end
  call.ms, call.low, call.last, call.entered_count = ms, low, id or call.last, entered_count
  local is_due = count > 0 and is_trim_due(call.appended + number, count)
  note_end(call, space, last, last_slice, is_due and trim_after_sends(call.prefix, space, last, count))
end

local function send_section(call, arguments, section, number)
  if not section.refusal then return append_section(call, arguments, section, number) end
  for _ = 1, section.count do call.answer[#call.answer + 1] = section.refusal end
end

-- Asking for the listeners costs as much as the messages of three sends, so only a call of many asks.
local LISTENERS_ASKED_FROM = 16

-- Gives how many listen to each section's space, after its channel's name; nil if this is not asked. One
-- call.
local function ask_listeners(sections, sent)
  if sent < LISTENERS_ASKED_FROM then return nil end
  local channels = {}
  for index, section in ipairs(sections) do channels[index] = section.keys.channel end
  return redis_call('PUBSUB', 'SHARDNUMSUB', unpack(channels))
end

-- Completes each run's line of the answer, and publishes the run if a broker listens. The arguments before
-- the run's first notification are not needed any more. So the beginning of the message takes the place of
-- the last of them, and the text is made once.
local function finish_runs(call, arguments, sections, sent)
  local listeners = ask_listeners(sections, sent)
  for _, run in ipairs(call.runs) do
    local from, count, text = run.from, run.through - run.from + 1, nil
    if count > 1 then
      text = low_text_of(count)
      call.answer[run.line] = run.id .. ' ' .. text
    end
    if not listeners or listeners[2 * run.section.number] > 0 then
      local header = text and run_header(run.id, run.last, text, run.audience)
        or appended_header(run.id, run.last, run.audience)
      arguments[from - 1] = origin_line() .. '\n' .. header
      redis_call('SPUBLISH', run.section.keys.channel, table.concat(arguments, '\n', from - 1, run.through))
    end
  end
end

-- Writes the changes that all sends of the call share, and publishes them.
local function finish_many(call, arguments, sections, sent)
  if not call.last then return end
  enter_many(call)
  local fields = { 'last', call.last }
  for space in pairs(call.changed) do
    fields[#fields + 1] = space
    fields[#fields + 1] = end_text(call.last_of[space], call.lost_of[space])
  end
  redis_call('HSET', call.key, unpack(fields))
  local partition = call.partition
  partition.last, partition.ms, partition.low = call.last, call.ms, call.low
  if call.is_another_history then note_history(call.prefix, call.history, call.before, call.given) end
  finish_runs(call, arguments, sections, sent)
end

-- Arguments: the limits; then for each section the space, the audience, the settings, the records that all of
-- it relies on, the notifications, and, if each send relies on its sender's own record, the accid and the
-- record of each; then the dedupe fields of all sends (empty for one without an id) and their fingerprints,
-- or none. Then three words for each section: how many sends there are, whether they rely on their senders'
-- records, and how many others. The last two say how many sections and how many dedupe fields there are. No
-- dedupe field may occur twice.
local function send_many(keys, arguments)
  local partition = know_partition(keys)
  local totals = read_numbers(arguments[#arguments])
  limits = read_numbers(arguments[1])
  local sections, first_field = read_sections(arguments, totals[1])
  local call = begin_many(partition, keys[1], sections)
  read_names(call, arguments, first_field, totals[2])
  local sent = 0
  for _, section in ipairs(sections) do
    local is_judged, problem = pcall(judge_section, call, arguments, section, sent)
    if not is_judged then section.refusal = failed(problem) end
    sent = sent + section.count
  end
  sent = 0
  for _, section in ipairs(sections) do
    send_section(call, arguments, section, sent)
    sent = sent + section.count
  end
  finish_many(call, arguments, sections, sent)
  if call.time then call.answer[1] = call.before .. ' ' .. call.time end
  return table.concat(call.answer, '\n')
end

register('send', send)
register('send_many', send_many)
