# The cluster of scripts/vitess: what is started, where it listens, and how it is stopped.
#
# Each process NAME has its log in $run/NAME.log and its process number in $run/NAME.pid, and is stopped by that number.

gate_port=$base           # vtgate for MySQL clients; +1 its page, +2 gRPC
control_port=$((base + 4)) # vtctld's gRPC; +1 its page
etcd_port=$((base + 6))    # etcd for clients; +1 for other members
reference_port=$((base + 9))
# Server N of 1 to 3: +10+N; its tablet's page: +20+N, gRPC: +30+N.
servers=(shard1 shard2 plain)

as_user=()
[ "$(id -u)" != 0 ] || as_user=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
topology=(--topo_implementation etcd2 --topo_global_server_address "127.0.0.1:$etcd_port"
  --topo_global_root /vitess/global)
local_only=(--bind-address 127.0.0.1 --grpc_bind_address 127.0.0.1 --logtostderr --onterm_timeout 1s)

# ---- processes -------------------------------------------------------------------------------------------------------

# Starts a process with a name.
spawn() {
  local name=$1
  shift
  ! running "$name" || fail "$name runs already: scripts/vitess down"
  (cd "$run" && VTDATAROOT=$run exec setsid "$@" >>"$run/$name.log" 2>&1 </dev/null) &
  echo $! >"$run/$name.pid"
  disown
}

# Whether the named process runs; its number may be another program's by now, which runs elsewhere.
running() {
  local pid
  pid=$(cat "$run/$1.pid" 2>/dev/null) && [[ $(readlink "/proc/$pid/cwd" 2>/dev/null) == "$run"* ]]
}

# Ends a process by a signal, TERM if none is given, and waits for it.
stop() {
  local pid turn
  running "$1" || return 0
  pid=$(cat "$run/$1.pid")
  kill -s "${2:-TERM}" "$pid" 2>/dev/null || true
  for turn in $(seq 150); do
    running "$1" || return 0
    sleep 0.1
  done
  echo "vitess: $1 does not end: SIGKILL" >&2
  kill -s KILL "$pid" 2>/dev/null || true
}

# Waits up to a number of seconds for a command to succeed.
await() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || { echo "vitess: waited in vain: $what" >&2; return 1; }
    sleep 0.1
  done
}

# ---- clients ---------------------------------------------------------------------------------------------------------

# One batch of statements: on the server NAME as root, and on vtgate. Comments are kept: some are for Vitess.
on() {
  local name=$1
  shift
  mariadb --no-defaults -uroot -S"$run/$name.sock" -N -B -c "$@"
}
gate() { mariadb --no-defaults -uanybody -h127.0.0.1 -P"$gate_port" -N -B -c "$@"; }

# vtctldclient, which would go on trying for minutes.
control() { timeout 60 "$work/bin/vtctldclient-$vitess_version" --server "127.0.0.1:$control_port" "$@"; }

# One value of a tablet's page.
tablet_says() {
  local page
  exec {page}<>"/dev/tcp/127.0.0.1/$((base + 20 + $1))" || return 1
  printf 'GET /debug/vars HTTP/1.0\r\n\r\n' >&$page
  sed -n "s/^\"$2\": \"\\?\\([^\",]*\\)\"\\?,\\?\$/\\1/p" <&$page
  exec {page}>&-
}
serves() { [ "$(tablet_says "$1" TabletStateName)" = SERVING ]; }

# ---- parts -----------------------------------------------------------------------------------------------------------

# The server of a name and number, with errors of statements counted where $count_errors is set, with the account that vttablet logs in by, and the database of its keyspace.
start_server() {
  local name=$1 number=$2 database=$3
  if [ -n "${VITESS_MYSQLD:-}" ]; then
    local mysqld=("$VITESS_MYSQLD" --no-defaults --user=root --datadir="$run/$name")
    [ -d "$run/$name" ] || "${mysqld[@]}" --initialize-insecure 2>>"$run/$name.log"
    spawn "$name" "${mysqld[@]}" --port=$((base + 10 + number)) --bind-address=127.0.0.1 --mysqlx=OFF \
      --socket="$run/$name.sock" --pid-file="$run/$name.mysqld" --skip-log-bin --innodb-buffer-pool-size=128M
  else
    spawn "$name" "$inia" serve --data "$run/$name" --port $((base + 10 + number)) --socket "$run/$name.sock" \
      --buffer-pool-size 128M
  fi
  await 60 "$name answers" on "$name" -e 'DO 1'
  # MySQL counts by itself.
  [ -z "${count_errors:-}" ] || [ -n "${VITESS_MYSQLD:-}" ] || on "$name" -e 'SET GLOBAL inia_statement_sums = ON'
  on "$name" -e "CREATE USER IF NOT EXISTS vt@'%' IDENTIFIED WITH mysql_native_password BY 'vt';
    GRANT ALL ON *.* TO vt@'%' WITH GRANT OPTION; CREATE DATABASE IF NOT EXISTS $database"
}

# The tablet of a server's number, keyspace and shard.
start_tablet() {
  local number=$1 keyspace=$2 shard=$3 role accounts=()
  for role in app allprivs dba appdebug filtered repl; do
    accounts+=("--db_${role}_user" vt "--db_${role}_password" vt)
  done
  spawn "tablet$number" "${as_user[@]}" "$work/bin/vttablet-$vitess_version" "${topology[@]}" "${local_only[@]}" \
    --tablet-path "c1-10$number" --tablet_hostname 127.0.0.1 --init_keyspace "$keyspace" --init_shard "$shard" \
    --init_tablet_type replica --unmanaged --db_socket "$run/${servers[number - 1]}.sock" "${accounts[@]}" \
    --init_db_name_override "$keyspace" --port $((base + 20 + number)) --grpc_port $((base + 30 + number)) \
    --service_map grpc-queryservice,grpc-tabletmanager,grpc-updatestream --twopc_enable --twopc_abandon_age 2 --queryserver-enable-views
}
start_tablets() {
  start_tablet 1 shop -80
  start_tablet 2 shop 80-
  start_tablet 3 plain 0
}

start_gate() {
  spawn gate "${as_user[@]}" "$work/bin/vtgate-$vitess_version" "${topology[@]}" "${local_only[@]}" --cell c1 \
    --cells_to_watch c1 --tablet_types_to_wait PRIMARY --tablet_refresh_interval 500ms --port $((gate_port + 1)) \
    --grpc_port $((gate_port + 2)) --service_map grpc-vtgateservice --mysql_auth_server_impl none \
    --mysql_server_bind_address 127.0.0.1 --mysql_server_port "$gate_port" --enable-views
  await 60 "vtgate answers" gate -e 'SELECT 1'
}

# Starts everything on an empty directory, and waits until both keyspaces serve.
start_all() {
  local number
  for name in "${servers[@]}" gate; do
    ! running "$name" || fail "a cluster runs already: scripts/vitess down"
  done
  rm -rf "$run"
  mkdir -p "$run"
  [ ${#as_user[@]} = 0 ] || chown nobody "$run"
  "${as_user[@]}" test -w "$run" -a -x "$work/bin" ||
    fail "nobody cannot enter $run: say VITESS_DIR=/some/place/that/all/may/enter"
  start_server shard1 1 shop
  start_server shard2 2 shop
  start_server plain 3 plain
  spawn etcd etcd --name e1 --data-dir "$run/etcd" --listen-client-urls "http://127.0.0.1:$etcd_port" \
    --advertise-client-urls "http://127.0.0.1:$etcd_port" --listen-peer-urls "http://127.0.0.1:$((etcd_port + 1))" \
    --initial-advertise-peer-urls "http://127.0.0.1:$((etcd_port + 1))" \
    --initial-cluster "e1=http://127.0.0.1:$((etcd_port + 1))"
  spawn control "${as_user[@]}" "$work/bin/vtctld-$vitess_version" "${topology[@]}" "${local_only[@]}" --cell c1 \
    --port $((control_port + 1)) --grpc_port "$control_port" --service_map grpc-vtctl,grpc-vtctld
  await 60 "a cell can be made" control AddCellInfo --root /vitess/c1 --server-address "127.0.0.1:$etcd_port" c1
  control CreateKeyspace --durability-policy=none shop >/dev/null
  control CreateKeyspace --durability-policy=none plain >/dev/null
  start_tablets
  for number in 1 2 3; do
    await 60 "tablet $number is a primary" control TabletExternallyReparented "c1-10$number"
  done
  for number in 1 2 3; do
    await 60 "tablet $number serves" serves "$number"
  done
  control ApplyVSchema --vschema-file "$here/shop.json" shop >/dev/null
  control ApplyVSchema --vschema-file "$here/plain.json" plain >/dev/null
  start_gate
}

# Stops what runs, the last first.
stop_all() {
  local name
  for name in gate tablet1 tablet2 tablet3 control etcd "${servers[@]}" reference; do
    stop "$name"
  done
}
