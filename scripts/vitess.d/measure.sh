# Throughput of sysbench, directly on one server and through vtgate on two shards: transactions a second, the 95th
# percentile of their time in milliseconds, and microseconds of processor time a transaction: of the server when it is used
# directly, of vtgate, of both tablets and of both servers. Rounds are interleaved; a line has the medians.
#
# VITESS_SECONDS is the length of a run (8), VITESS_ROUNDS their number (3), VITESS_THREADS the clients ("1 8 32"), VITESS_WORKLOADS names the scripts.

start_all
on plain -e 'CREATE DATABASE direct'
# 100,000 rows in one server, and the same rows over both shards.
bench() {
  local port=$1 user=$2 database=$3
  shift 3
  sysbench "$@" --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user="$user" --mysql-password=vt \
    --mysql-db="$database" --tables=1 --table-size=100000 --auto-inc=off --rand-type=uniform --db-ps-mode=disable
}
direct() { bench $((base + 13)) vt direct "$@"; }
sharded() { bench "$gate_port" vt shop "$@"; }
middle() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }

for way in direct sharded; do
  "$way" oltp_read_write prepare >"$run/bench.log" 2>&1 || { cat "$run/bench.log" && fail "sysbench cannot prepare"; }
done
# Processor time of named processes so far, in microseconds; a tick is a hundredth of a second.
cpu() {
  local name total=0 fields
  for name in "$@"; do
    read -r fields <"/proc/$(cat "$run/$name.pid")/stat"
    read -ra fields <<<"${fields##*) }"
    total=$((total + (fields[11] + fields[12]) * 1000000 / $(getconf CLK_TCK)))
  done
  echo "$total"
}
# One run: adds what it finds to the files figures.WAY.*.
measure_one() {
  local way=$1 script=$2 threads=$3 count part
  local -A parts=([direct]=plain [gate]=gate [tablets]="tablet1 tablet2" [servers]="shard1 shard2")
  local -A spent
  # shellcheck disable=SC2086
  for part in "${!parts[@]}"; do spent[$part]=$(cpu ${parts[$part]}); done
  "$way" "$script" --threads="$threads" --time="${VITESS_SECONDS:-8}" run >"$run/bench.log" 2>&1 ||
    { cat "$run/bench.log" && fail "sysbench failed"; }
  count=$(sed -n 's/.*transactions: *\([0-9]*\).*/\1/p' "$run/bench.log")
  # shellcheck disable=SC2086
  for part in "${!parts[@]}"; do
    echo $((($(cpu ${parts[$part]}) - spent[$part]) / count)) >>"$run/figures.$way.$part"
  done
  sed -n 's/.*transactions: .*(\([0-9.]*\) per sec.*/\1/p' "$run/bench.log" >>"$run/figures.$way.tps"
  sed -n 's/.*95th percentile: *//p' "$run/bench.log" >>"$run/figures.$way.p95"
}
figure() { middle <"$run/figures.$1.$2"; }

echo '| workload | clients | direct: per s | p95 ms | CPU | vtgate: per s | p95 ms | CPU vtgate | tablets | Inias |'
echo '|---|---|---|---|---|---|---|---|---|---|'
for script in ${VITESS_WORKLOADS:-oltp_point_select oltp_read_only oltp_write_only oltp_update_index}; do
  for threads in ${VITESS_THREADS:-1 8 32}; do
    rm -f "$run"/figures.*
    for round in $(seq "${VITESS_ROUNDS:-3}"); do
      for way in direct sharded; do measure_one "$way" "$script" "$threads"; done
    done
    echo "| $script | $threads | $(figure direct tps) | $(figure direct p95) | $(figure direct direct) |" \
      "$(figure sharded tps) | $(figure sharded p95) | $(figure sharded gate) | $(figure sharded tablets) |" \
      "$(figure sharded servers) |"
  done
done
