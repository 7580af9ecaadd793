# Sourced: a Redis Cluster on this machine's loopback interface, one replica for each master, each node in a folder of its
# own that is called by its port. What is in the folders is found again at the next start.

cluster_ports=()

# cluster_start FOLDER FIRST_PORT MASTERS REPOSITORY
cluster_start() {
  cluster_folder=$1 cluster_repository=$4 cluster_ports=()
  local arguments
  local port count=$((2 * $3)) is_new="" known
  mkdir -p "$cluster_folder"
  known=$(find "$cluster_folder" -mindepth 2 -maxdepth 2 -name nodes.conf | wc -l)
  [[ $known == 0 ]] && is_new=yes
  if [[ ! $is_new && $known != "$count" ]]; then
    echo "$cluster_folder has a cluster of $known nodes, not $count: say --masters $((known / 2)), or another --data." >&2
    return 1
  fi
  for ((port = $2; port < $2 + count; port++)); do
    if redis-cli -p "$port" ping >/dev/null 2>&1; then
      echo "A Redis answers on port $port already: stop it, or choose another --redis-port." >&2
      cluster_ports=()
      return 1
    fi
    if [[ ! $is_new && ! -f $cluster_folder/$port/nodes.conf ]]; then
      echo "$cluster_folder has no node of port $port: choose the --redis-port it was made with." >&2
      cluster_ports=()
      return 1
    fi
  done
  for ((port = $2; port < $2 + count; port++)); do
    mkdir -p "$cluster_folder/$port"
    cluster_ports+=("$port")
    # A process group of its own: a Ctrl-C at the terminal is for the script, which ends the nodes in order. They end, too,
    # when the script is killed.
    set -m
    cluster_arguments "$port"
    setpriv --pdeathsig TERM redis-server "${arguments[@]}" >/dev/null 2>&1 </dev/null &
    set +m
    disown
  done
  for port in "${cluster_ports[@]}"; do
    cluster_wait "the node of port $port answers" eval "[[ \$(redis-cli -p $port ping 2>/dev/null) == PONG ]]" || return 1
  done
  if [[ $is_new ]]; then
    redis-cli --cluster create "${cluster_ports[@]/#/127.0.0.1:}" --cluster-replicas 1 --cluster-yes \
      >"$cluster_folder/create.log" || { cat "$cluster_folder/create.log" >&2; return 1; }
  fi
  cluster_wait "all nodes serve" cluster_is_whole
}

# Sets `arguments` to those of redis-server for the node of this port.
cluster_arguments() {
  local folder=$cluster_folder/$1 settings=$cluster_repository/config
  arguments=(
    "$settings/redis.conf" --include "$settings/redis-cluster.conf" --bind 127.0.0.1 --port "$1"
    # For a broker with `durability` `local`: when a master has failed, the one in its place goes on alone.
    --min-replicas-to-write 0 --dir "$folder" --logfile "$folder/redis.log" --pidfile "$folder/redis.pid"
  )
}

cluster_is_whole() {
  local port
  for port in "${cluster_ports[@]}"; do
    redis-cli -p "$port" cluster info | grep -q cluster_state:ok || return 1
    redis-cli -p "$port" info replication | grep -Eq 'master_link_status:up|state=online' || return 1
  done
}

# cluster_wait WHAT COMMAND...
cluster_wait() {
  local what=$1 attempts=300
  shift
  until "$@"; do
    if ((--attempts == 0)); then
      echo "It has not come to this: $what. Logs are in $cluster_folder." >&2
      return 1
    fi
    sleep 0.1
  done
}

# All that run, also those that were started again by hand. The files are written through before.
cluster_stop() {
  local port
  for port in "${cluster_ports[@]:-}"; do
    # A node that was stopped (SIGSTOP) would not hear of it.
    [[ $port && -f $cluster_folder/$port/redis.pid ]] || continue
    kill -CONT "$(<"$cluster_folder/$port/redis.pid")" 2>/dev/null || true
    timeout 10 redis-cli -p "$port" shutdown nosave now >/dev/null 2>&1 || true
  done
}

# What somebody at the terminal can do to it.
cluster_tell() {
  local port arguments
  printf '\n  %-6s %-8s %s\n' PORT PROCESS ROLE
  for port in "${cluster_ports[@]}"; do
    printf '  %-6s %-8s %s\n' "$port" "$(<"$cluster_folder/$port/redis.pid")" \
      "$(redis-cli -p "$port" role | tr '\n' ' ' | awk '{ print $1 == "slave" ? "replica of " $3 : $1 }')"
  done
  port=${cluster_ports[0]}
  cluster_arguments "$port"
  cat <<TEXT

To see a failover, kill a master, look who is master in its place, and start it again:

  kill -KILL \$(cat "$cluster_folder/$port/redis.pid")

  redis-cli -p ${cluster_ports[1]} cluster nodes

  $(printf '%q ' redis-server "${arguments[@]}" --daemonize yes)

TEXT
}
