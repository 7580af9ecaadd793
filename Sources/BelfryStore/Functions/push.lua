-- Push. It reads the copies of its partition (copies.lua). For each receiver with a pusher (pushers.lua) it enters
-- a task into the sorted sets `pushes` and `corrections`, by the time at which the task is due:
--
--   push <space> <id> <account> <device> <tries>    an entry; `*` stands for all devices
--   badge <account> <device> <tries>                the number of unread entries, corrected
--
-- Corrections are kept apart because they may be due in weeks, when something expires, and are no more than
-- there are accounts with a number. Tries are counted, and a task is given up beyond a limit.
--
-- A push for one device that has failed, or whose receiver gets no requests, is a retry. It is in `pushes` like the
-- others, and the sorted set `retries` has its name, so that an account's retries can be counted:
--
--   <account> <id> <space> <device> <tries>         the id with 20 digits; all have the score 0
--
-- The broker that enters tasks notes its position in the same step. So each task is entered once, even if the
-- broker dies. Copies with many receivers are entered page by page while later ones pass. The state names them
-- in `unfinished`, oldest first: the id of each, and the page.

-- Enters a task. If a correction is due sooner and has not begun, it says what this one would, and this one
-- is not entered.
local function enter_push(prefix, due, text)
  if string.sub(text, 1, 6) ~= 'badge ' then return redis_call('ZADD', pushes_key(prefix), due, text) end
  plan_correction(prefix, tonumber(due), text)
end

-- save_push: writes the position of push among the copies, in as many texts of the state as the caller says,
-- and the tasks for the copies up to there, a time and a text each.
local function save_push(keys, arguments)
  local prefix = open_partition(keys)
  local owner, milliseconds, generation, count = unpack(arguments, 1, 4)
  local last = 4 + tonumber(count)
  if not write_state(prefix, 'push', owner, milliseconds, generation, arguments, 5, last) then return 'lost' end
  for index = last + 1, #arguments, 2 do enter_push(prefix, arguments[index], arguments[index + 1]) end
  -- If push is the only reader, nobody else needs the copies that it has entered.
  if count ~= '0' and redis_call('SCARD', readers_key(prefix)) == 1 then
    local position, unfinished = unpack(redis_call('HMGET', state_key(prefix, 'push'), 'position', 'unfinished'))
    local needed = unfinished and string.match(unfinished, '^%S+') or position
    if needed ~= NO_ID then redis_call('XTRIM', copies_key(prefix), 'MINID', '~', needed) end
  end
  return 'saved'
end

local function retries_key(prefix) return prefix .. 'retries' end

-- Gives the name and the account of a retry; nothing for another task.
local function name_retry(text)
  local space, id, account, device, tries = string.match(text, '^push (%S+) (%d+) (%S+) (%S+) (%d+)$')
  if not id or device == '*' and tries == '0' then return nil end
  return table.concat({ account, string.rep('0', 20 - #id) .. id, space, device, tries }, ' '), account
end

local function text_of_retry(name)
  local account, id, space, rest = string.match(name, '^(%S+) 0*(%d+) (%S+) (.+)$')
  return table.concat({ 'push', space, id, account, rest }, ' ')
end

local function give_up(prefix, name, given_up)
  local text = text_of_retry(name)
  redis_call('ZREM', retries_key(prefix), name)
  if redis_call('ZREM', pushes_key(prefix), text) == 1 then given_up[#given_up + 1] = text end
end

-- Removes names of retries that are settled, as far as they are in a random sample. A broker of an earlier
-- release leaves the names behind when it settles pushes.
local SAMPLE = 16

local function remove_settled_names(prefix)
  local retries, pushes = retries_key(prefix), pushes_key(prefix)
  for _, name in ipairs(redis_call('ZRANDMEMBER', retries, SAMPLE)) do
    if not redis_call('ZSCORE', pushes, text_of_retry(name)) then redis_call('ZREM', retries, name) end
  end
end

-- Enters a retry. An account may have as many as then stay free for the others, up to its limit (FairShares.swift
-- has the same rule). Beyond that its oldest notification is given up: the newest is worth most to its reader,
-- and the oldest has been tried most often. Four calls, and some twenty more where there seem to be too many.
local function enter_retry(prefix, due, text, most, account_most, given_up)
  local retries, name, account = retries_key(prefix), name_retry(text)
  redis_call('ZADD', pushes_key(prefix), due, text)
  redis_call('ZADD', retries, 0, name)
  -- `!` is the character after the space.
  local first, last = '[' .. account .. ' ', '(' .. account .. '!'
  local function count_retries()
    local total = redis_call('ZCARD', retries)
    local is_beyond_share = redis_call('ZLEXCOUNT', retries, first, last) > math.min(account_most, math.max(most - total, 1))
    return is_beyond_share, total > most
  end
  local is_beyond_share, is_full = count_retries()
  if not is_beyond_share and not is_full then return end
  remove_settled_names(prefix)
  is_beyond_share, is_full = count_retries()
  if is_beyond_share then
    give_up(prefix, redis_call('ZRANGE', retries, first, last, 'BYLEX', 'LIMIT', 0, 1)[1], given_up)
  elseif is_full then
    give_up(prefix, name, given_up)
  end
end

-- settle_pushes: notes the outcome of tasks. After the limits of retries, of the partition and of an account,
-- come for each task: its text, the time at which it was due, `1` if it has only been put off, how many tasks
-- take its place, and the time and the text of each of these. If the task is due at another time now, nothing
-- changes: there was a reason to do it again. Gives the texts of the retries that were given up because too
-- many wait.
local function settle_pushes(keys, arguments)
  local prefix = open_partition(keys)
  local most, account_most, given_up, index = tonumber(arguments[1]), tonumber(arguments[2]), {}, 3
  while arguments[index] do
    local text, due, is_put_off, count = unpack(arguments, index, index + 3)
    local key = string.sub(text, 1, 6) == 'badge ' and corrections_key(prefix) or pushes_key(prefix)
    local known = redis_call('ZSCORE', key, text)
    local first, past = index + 4, index + 4 + 2 * tonumber(count)
    if known and tonumber(known) == tonumber(due) then
      redis_call('ZREM', key, text)
      local name = name_retry(text)
      local keeps_name = is_put_off == '1' and first < past
      if name and not keeps_name then redis_call('ZREM', retries_key(prefix), name) end
      for later = first, past - 1, 2 do
        local later_due, later_text = arguments[later], arguments[later + 1]
        -- A push for one device that is due at once has not been tried yet, and waits for nothing.
        if keeps_name or later_due == '0' or not name_retry(later_text) then
          enter_push(prefix, later_due, later_text)
        else
          enter_retry(prefix, later_due, later_text, most, account_most, given_up)
        end
      end
    end
    index = past
  end
  return given_up
end

register('save_push', save_push, FREES_MEMORY)
register('settle_pushes', settle_pushes, FREES_MEMORY)
