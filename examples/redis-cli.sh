#!/usr/bin/env bash
# Tails a server's log in Redis with redis-cli, without Belfry: all of its notifications, for all receivers.
#
#   redis-cli.sh SERVER-ID [COUNT]    prints entries as JSON, COUNT of them or for ever, and continues where it stopped
#
# REDIS, the command that reaches Redis (redis-cli -s data/redis/redis.sock); CURSOR, the file that remembers where it was
# (belfry.cursor). docs/redis-layout.md says what an entry holds, and who may see it. Reading this way marks nothing read.
# The broker deletes entries that all of their receivers have read. So a reader that is away misses some: for an archive use
# webhooks (docs/webhooks.md).
set -euo pipefail
server=${1:?which server?} left=${2:--1}
read -ra redis <<<"${REDIS:-redis-cli -s data/redis/redis.sock}"
cursor=${CURSOR:-belfry.cursor}

read -r version partitions < <("${redis[@]}" HGET belfry:format format)
[[ $version == 3 ]] || { echo "data of version $version: this reads version 3" >&2; exit 1; }

# FNV-1a of 64 bits, and the rest by the number of partitions, a power of two: the low bits.
partition() {
  local hash=$((0xcbf29ce484222325)) index
  for ((index = 0; index < ${#1}; index++)); do
    hash=$(((hash ^ $(printf '%d' "'${1:index:1}")) * 0x100000001b3))
  done
  echo $((hash & (partitions - 1)))
}

# The slot of a Redis Cluster: CRC-16 (XMODEM) modulo 16,384.
slot() {
  local crc=0 index bit byte
  for ((index = 0; index < ${#1}; index++)); do
    printf -v byte '%d' "'${1:index:1}"
    ((crc ^= byte << 8)) || true
    for ((bit = 0; bit < 8; bit++)); do
      ((crc = crc & 0x8000 ? (crc << 1 ^ 0x1021) & 0xffff : crc << 1)) || true
    done
  done
  echo $((crc % 16384))
}

# The first tag that lies in the partition's share of the slots.
tag() {
  local number=0
  until (($(slot "$1.$number") / (16384 / partitions) == $1)); do ((number += 1)); done
  echo "$1.$number"
}

key="belfry:{$(tag "$(partition "server:$server")")}:log:server:$server"
place=$(cat "$cursor" 2>/dev/null || echo 0-0)
while ((left != 0)); do
  # Each value is on a line of its own: the key, then for each entry its id, the audience and the notification. An update
  # has four more lines before the audience: what it updates, and when. No value has a line end in it.
  while ((left != 0)) && IFS= read -r line; do
    case $line in
      [0-9]*-[0-9]*)
        place=$line
        IFS= read -r audience
        if [[ $audience == updates ]]; then
          for _ in 1 2 3 4; do IFS= read -r audience; done
        fi
        IFS= read -r entry
        printf '%s\n' "$entry"
        echo "$place" >"$cursor"
        ((left -= 1)) || true
        ;;
    esac
  done < <("${redis[@]}" XREAD COUNT 100 BLOCK 5000 STREAMS "$key" "$place")
done
