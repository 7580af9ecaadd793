-- Revoked tokens. The sorted set `revoked` of a partition has, by accid, the time before which the account's tokens must not have
-- been issued, in milliseconds since 1970. Brokers read it once for a token; what changes afterwards they read in one stream
-- for all accounts, `revocations` in the first partition, which need hold no more than what came in the last second.

local REVOCATIONS_MAX = 10000

-- revoke_tokens: of two times the later one stays, whatever the clocks of brokers say.
local function revoke_tokens(keys, arguments)
  local account, time = unpack(arguments, 1, 2)
  return redis_call('ZADD', open_partition(keys) .. 'revoked', 'GT', time, account)
end

local function announce_revocation(keys, arguments)
  local account, time = unpack(arguments, 1, 2)
  return redis_call(
    'XADD', open_partition(keys) .. 'revocations', 'MAXLEN', '~', REVOCATIONS_MAX, '*', 'account', account, 'before', time)
end

-- Whoever has filled Redis may be just who is to be locked out.
register('revoke_tokens', revoke_tokens, FREES_MEMORY)
register('announce_revocation', announce_revocation, FREES_MEMORY)
