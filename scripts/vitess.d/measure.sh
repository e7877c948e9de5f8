# Throughput of sysbench, directly on one server and through vtgate on two shards: transactions a second, and the 95th
# percentile of their time in milliseconds. Rounds are interleaved; a line has the medians.
#
# VITESS_SECONDS is the length of a run (8), VITESS_ROUNDS their number (3), VITESS_THREADS the clients ("1 8 32").

start_all
on plain -e 'CREATE DATABASE direct'
# 100,000 rows in one server, and the same rows over both shards.
bench() {
  local port=$1 user=$2 database=$3
  shift 3
  sysbench "$@" --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user="$user" --mysql-password=vt \
    --mysql-db="$database" --tables=1 --table-size=100000 --auto-inc=off --db-ps-mode=disable
}
direct() { bench $((base + 13)) vt direct "$@"; }
sharded() { bench "$gate_port" vt shop "$@"; }
middle() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }

for way in direct sharded; do
  "$way" oltp_read_write prepare >"$run/bench.log" 2>&1 || { cat "$run/bench.log" && fail "sysbench cannot prepare"; }
done
printf '%-24s %8s %22s %22s\n' workload clients 'direct: tps, p95 ms' 'vtgate: tps, p95 ms'
for script in oltp_point_select oltp_read_only oltp_write_only oltp_update_index; do
  for threads in ${VITESS_THREADS:-1 8 32}; do
    rm -f "$run"/figures.*
    for round in $(seq "${VITESS_ROUNDS:-3}"); do
      for way in direct sharded; do
        "$way" "$script" --threads="$threads" --time="${VITESS_SECONDS:-8}" run >"$run/bench.log" 2>&1 ||
          { cat "$run/bench.log" && fail "sysbench failed"; }
        sed -n 's/.*transactions: .*(\([0-9.]*\) per sec.*/\1/p' "$run/bench.log" >>"$run/figures.$way.tps"
        sed -n 's/.*95th percentile: *//p' "$run/bench.log" >>"$run/figures.$way.p95"
      done
    done
    printf '%-24s %8s %14s %7s %14s %7s\n' "$script" "$threads" "$(middle <"$run/figures.direct.tps")" \
      "$(middle <"$run/figures.direct.p95")" "$(middle <"$run/figures.sharded.tps")" "$(middle <"$run/figures.sharded.p95")"
  done
done
