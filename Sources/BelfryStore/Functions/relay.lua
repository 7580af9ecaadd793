-- What the outbox of one partition carries to others. Whatever comes twice changes nothing.

-- relay: an account's index learns that it joined or left a space. A change that comes after a later one
-- changes nothing either.

-- Of an index that is full, the oldest of so many entries gives way: nearly the oldest of all, for a price
-- that does not grow. Never a space that the account is in.
local SAMPLE = 32

local function make_room(key, entries_max)
  if redis.call('HLEN', key) <= entries_max then return end
  local sample = redis.call('HRANDFIELD', key, SAMPLE, 'WITHVALUES')
  local oldest, oldest_version
  for index = 1, #sample, 2 do
    local space = sample[index]
    local kind, version = string.match(sample[index + 1], '^(%a+) (%d+%-%d+) ')
    local may_go = kind == 'left' or string.sub(space, 1, 7) == 'letter:'
    if version and may_go and (not oldest or is_before(version, oldest_version)) then
      oldest, oldest_version = space, version
    end
  end
  if oldest then redis.call('HDEL', key, oldest) end
end

-- What was known of a space until now, before what was known still earlier, of which no more is kept than so much
-- in all.
local function remember(version, added_at, earlier, earlier_max)
  local words = { '', version, added_at }
  for word in string.gmatch(earlier, '%S+') do
    if #words <= 2 * earlier_max then words[#words + 1] = word end
  end
  return table.concat(words, ' ')
end

local function relay(keys, arguments)
  local prefix, partition = open_partition(keys)
  local account, space, kind, version, entries_max, earlier_max = unpack(arguments, 1, 6)
  local personal = personal_space(account)
  local known = redis.call('HGET', spaces_key(prefix, account), space)
  local known_kind, known_version, added_at
  local earlier = ''
  if known then
    known_kind, known_version, added_at, earlier = string.match(known, '^(%a+) (%d+%-%d+) (%d+%-%d+)([%d%- ]*)$')
    earlier = earlier or ''
    if known_version and not is_before(known_version, version) then return 0 end
  end

  -- Who leaves has had the space in their feed all along, so no cursor has to take it in anew; but who leaves
  -- without being known to be there has had a stay in between, of which nobody will tell any more.
  if kind == 'joined' or known_kind ~= 'joined' then
    if added_at then earlier = remember(known_version, added_at, earlier, tonumber(earlier_max)) end
    local clock = read_clock(prefix, partition, { personal })
    added_at = take_id(clock)
    -- The account's own space is entered even if nothing was ever appended to it: the clock is also the
    -- list of the partition's accounts, by which the sweep finds them.
    enter_space(clock, personal)
    write_clock(clock)
  end
  redis.call('HSET', spaces_key(prefix, account), space, kind .. ' ' .. version .. ' ' .. added_at .. earlier)
  make_room(spaces_key(prefix, account), tonumber(entries_max))
  publish(prefix, personal, 'index')
  return 1
end

-- The first millisecond within retention. It never goes back, as the clock's own last id does not: what the
-- sweep has forgotten as too old, is too old for `deliver` ever after.
local function retention_floor(clock, retention) return math.max(clock.now, clock.ms) - retention end

-- deliver: an entry for one account, in its own space, once. The account remembers where it came from, its
-- version and its place in that commit, for as long as it may come again; its log does not, since what was
-- read is deleted from there. What is older than anything that is remembered is not appended at all.
local function deliver(keys, arguments)
  local prefix, partition = open_partition(keys)
  local account, version, position, retention, entries_max, audience, notification = unpack(arguments, 1, 7)
  local personal = personal_space(account)
  local clock = read_clock(prefix, partition, { personal })
  if parse_id(version) < retention_floor(clock, tonumber(retention)) then return 0 end
  if redis.call('HSETNX', arrived_key(prefix, account), version .. '/' .. position, '') == 0 then return 0 end
  announce(clock, personal, take_id(clock), audience, notification, true, entries_max)
  write_clock(clock)
  publish_said(clock)
  return 1
end

-- list: a space appears in a directory, or disappears from it.
local function list(keys, arguments)
  local prefix = open_partition(keys)
  local directory, place, is_listed = unpack(arguments, 1, 3)
  local key = directory_key(prefix, directory)
  if is_listed == '1' then return redis.call('ZADD', key, 0, place) end
  return redis.call('ZREM', key, place)
end

register('relay', relay)
register('deliver', deliver)
register('list', list)
