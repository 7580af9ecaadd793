-- Revoked tokens. The sorted set `revoked` of a partition has, by accid, a time in milliseconds since 1970:
-- the account's tokens that were issued before it are void. Brokers read the set once for a token. They read
-- later changes in one stream for all accounts, `revocations` in the first partition, which need hold no more
-- than the revocations of the last second.

local REVOCATIONS_MAX = 10000

-- revoke_tokens: sets the time, unless a later one is there. So the later of two times stays, even if the
-- clocks of brokers differ.
local function revoke_tokens(keys, arguments)
  local account, time = unpack(arguments, 1, 2)
  return redis_call('ZADD', open_partition(keys) .. 'revoked', 'GT', time, account)
end

local function announce_revocation(keys, arguments)
  local account, time = unpack(arguments, 1, 2)
  return redis_call(
    'XADD', open_partition(keys) .. 'revocations', 'MAXLEN', '~', REVOCATIONS_MAX, '*', 'account', account, 'before', time)
end

-- Both run above maxmemory: the caller who has filled Redis may be the one to lock out.
register('revoke_tokens', revoke_tokens, FREES_MEMORY)
register('announce_revocation', announce_revocation, FREES_MEMORY)
