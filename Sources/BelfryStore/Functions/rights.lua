-- The rights that a broker needs in Redis. A function that reaches a command which its caller may not run ends there, and Redis
-- undoes nothing. So brokers ask for all rights before they work, and again every few seconds.

-- The commands that brokers send and that functions call. K stands for a key of Belfry's, and C for a channel.
local NEEDED = 'COPY K K, DEL K, EVALSHA x 0, EXEC, EXISTS K, FCALL x 0, FCALL_RO x 0, FUNCTION LIST, GET K, '
  .. 'GETDEL K, HDEL K x, HEXISTS K x, HGET K x, HGETALL K, HINCRBY K x 1, HKEYS K, HLEN K, HMGET K x, HRANDFIELD K, '
  .. 'HSCAN K 0, HSET K x x, HSETNX K x x, INFO, MULTI, PEXPIRE K 1, PING, PTTL K, PUBSUB SHARDNUMSUB C, RENAME K K, '
  .. 'SADD K x, SCAN 0, SCARD K, SCRIPT LOAD x, SET K x, SMISMEMBER K x, SPUBLISH C x, SREM K x, SSCAN K 0, SSUBSCRIBE C, '
  .. 'TIME, UNLINK K, XADD K 0-1 x x, XDEL K 0-1, XINFO STREAM K, XLEN K, XRANGE K 0 1, XREVRANGE K 1 0, '
  .. 'XTRIM K MAXLEN 1, ZADD K 1 x, ZCARD K, ZINCRBY K 1 x, ZLEXCOUNT K 0 1, ZMSCORE K x, ZRANDMEMBER K, ZRANGE K 0 1, '
  .. 'ZRANGEBYSCORE K 0 1, ZREM K x, ZSCORE K x'

-- Arguments: a key and a channel of Belfry's. Gives the names of the commands that the caller may not run, and writes nothing.
local function find_missing_rights(_, arguments)
  local missing = {}
  for command in string.gmatch(NEEDED, '[^,]+') do
    local words = {}
    for word in string.gmatch(command, '%S+') do
      words[#words + 1] = word == 'K' and arguments[1] or word == 'C' and arguments[2] or word
    end
    if not redis.acl_check_cmd(unpack(words)) then missing[#missing + 1] = string.lower(words[1]) end
  end
  return table.concat(missing, ' ')
end

register('find_missing_rights', find_missing_rights, { 'no-writes' })
