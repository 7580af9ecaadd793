-- Webhooks as such: functions of keys that belong to no partition. Each is called with the one key that it works on.

-- put_webhook: writes the record of a webhook, if the one that is kept is still the expected one (an empty text: none).
-- Two requests that have read the same record would undo each other otherwise, and a secret that somebody was just given
-- would be gone. Gives `changed` if another one is kept, and `full` if there are as many webhooks as there may be.
local function put_webhook(keys, arguments)
  local key = keys[1]
  local id, expected, record, version, most = unpack(arguments, 1, 5)
  if (redis_call('HGET', key, id) or '') ~= expected then return 'changed' end
  if expected == '' and redis_call('HLEN', key) - redis_call('HEXISTS', key, 'version') >= tonumber(most) then
    return 'full'
  end
  redis_call('HSET', key, id, record, 'version', version)
  return 'written'
end

-- note_webhook_failure: takes note of a failure, and gives since when there have been nothing but failures. A failure so
-- long after the last one that retries would have come in between begins a new run: nothing was to be delivered meanwhile.
local function note_webhook_failure(keys, arguments)
  local key = keys[1]
  local now, cause, gap = unpack(arguments, 1, 3)
  local known = redis_call('HMGET', key, 'failingSince', 'failedAt')
  local since, last = known[1], tonumber(known[2] or '')
  if not since or not last or tonumber(now) - last > tonumber(gap) then since = now end
  redis_call('HSET', key, 'failingSince', since, 'failedAt', now, 'failure', cause)
  return since
end

register('put_webhook', put_webhook)
register('note_webhook_failure', note_webhook_failure)
