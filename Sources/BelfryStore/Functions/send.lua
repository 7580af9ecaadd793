-- send: one notification and nothing else. The hot path: its calls are counted, and none of them depends on
-- how many members the space has.
--
--   1 per table of preconditions (settings; roster for a user; channels for a channel)
--   2 the clock and the time
--   1 the member count, if the audience depends on it
--   2 dedupe, if the sender gave an id
--   3 append, publish, clock
--
-- A user's send to a server: 10; a trusted back end's without an id: 7.

local function send(keys, arguments)
  local prefix, partition = open_partition(keys)
  local space, window, entries_max, threshold, dedupe = unpack(arguments, 1, 5)
  local is_stored, audience, notification = arguments[6] == '1', arguments[7], arguments[8]
  if not are_unchanged(prefix, space, arguments, 9) then return { 'conflict' } end

  local clock = read_clock(prefix, partition, space)
  local before = clock.last
  audience = stamp(prefix, space, audience, threshold)
  local id = take_id(clock)
  if dedupe ~= '' then
    local refusal = enter_dedupe(prefix, dedupe, notification, tonumber(window), clock, id)
    if refusal then return refusal end
  end
  announce(prefix, space, clock, id, audience, notification, is_stored, entries_max)
  write_clock(prefix, space, clock)
  return { 'committed', before, id }
end

register('send', send)
