#!/usr/bin/env bash
# A producer and a consumer with curl and jq.
#
#   curl.sh send ACCOUNT TEXT    sends to an account; safe to repeat with the same CLIENT_ID
#   curl.sh tail [COUNT]         prints what comes, COUNT notifications or for ever, and continues where it stopped
#   curl.sh read                 marks all of it read, up to the last that tail has shown
#
# BELFRY_URL (http://127.0.0.1:8080), BELFRY_TOKEN; CURSOR, the file that remembers where tail was (belfry.cursor).
set -euo pipefail
url=${BELFRY_URL:-http://127.0.0.1:8080} cursor=${CURSOR:-belfry.cursor}
# The token goes by a file descriptor: everybody on the machine can read command lines.
ask() { curl -sS --fail-with-body -H @<(echo "Authorization: Bearer $BELFRY_TOKEN") "$@"; }
# Prints a field of the answer. A refusal has no such field: it goes to the standard error as it is, with its code and why.
answered() {
  local answer
  answer=$(cat)
  jq --exit-status --raw-output ".$1 // empty" <<<"$answer" 2>/dev/null || { echo "$answer" >&2; return 1; }
}

send() {
  local id=${CLIENT_ID:-$(cat /proc/sys/kernel/random/uuid)}
  # An answer that is lost may be of a send that was done: the same messageClientId makes it one.
  jq --null-input --compact-output --arg to "$1" --arg body "$2" --arg id "$id" \
    '{toAccids: [$to], body: $body, messageClientId: $id}' \
    | ask --retry 3 --retry-connrefused -H 'Content-Type: application/json' --data @- "$url/v1/notifications" \
    | answered messageServerId
}

tail_feed() {
  local left=${1:--1} event="" data="" id="" line
  while ((left != 0)); do
    line=""
    while ((left != 0)) && { IFS= read -r line || [[ -n $line ]]; }; do
      case $line in
        "{"*)
          # A refusal, of which only these pass by themselves.
          echo "$line" >&2
          [[ $line =~ \"status\":(429|5) ]] || exit 1
          ;;
        event:*) event=${line#event: } ;;
        data:*) data=${line#data: } ;;
        id:*) id=${line#id: } ;;
        "")
          if [[ $event == notification ]]; then
            jq --raw-output '"\(.fromAccount // "-"): \(.body // "type \(.type)")"' <<<"$data"
            jq --raw-output .messageServerId <<<"$data" >"$cursor.last"
            ((left -= 1)) || true
          fi
          # Behind the effect: after a crash in between, one notification is shown twice, and none is left out.
          [[ -z $id ]] || echo "$id" >"$cursor"
          event="" data="" id=""
          ;;
      esac
    done < <(ask --no-buffer --no-show-error -H 'Accept: text/event-stream' -H "Last-Event-ID: $(cat "$cursor" 2>/dev/null || true)" \
      "$url/v1/notifications/stream")
    # The stream has ended: the broker sends its consumers elsewhere, or cannot be reached.
    ((left == 0)) || sleep "$((RANDOM % 3 + 1))"
  done
}

mark_read() {
  ask -H 'Content-Type: application/json' --data "{\"upTo\": \"$(cat "$cursor.last")\"}" "$url/v1/notifications/read" \
    | answered read
}

case "${1:-}" in
  send) send "$2" "$3" ;;
  tail) tail_feed "${2:--1}" ;;
  read) mark_read ;;
  *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
