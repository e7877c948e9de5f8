# Part of the test of scripts/vitess: sysbench through vtgate, and a shard's server that is killed under load.

chapter "sysbench"
bench() {
  local script=$1 threads=$2 seconds=$3
  shift 3
  sysbench "$script" --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port="$gate_port" --mysql-user=anybody \
    --mysql-db=shop --tables=1 --table-size=10000 --auto-inc=off --rand-type=uniform --threads="$threads" --time="$seconds" "$@"
}
whole() { gate shop -e 'SELECT COUNT(*), SUM(id), MIN(id), MAX(id) FROM sbtest1'; }
bench oltp_read_write 1 0 prepare >"$run/bench.log" 2>&1
check "rows that sysbench made" "$(whole)" $'10000\t50005000\t1\t10000'
for script in oltp_point_select oltp_read_write; do
  for statements in disable auto; do
    asked=$((asked + 1))
    bench "$script" 8 4 --db-ps-mode="$statements" run >"$run/bench.log" 2>&1 || { wrong=$((wrong + 1)) && cat "$run/bench.log"; }
    echo "$script, prepared statements $statements: $(sed -n 's/.*transactions: *//p' "$run/bench.log")"
  done
done
check "rows behind sysbench" "$(whole)" $'10000\t50005000\t1\t10000'

chapter "A shard's server is killed under load, and nothing acknowledged is lost"
# Clients 1, 2, 3 and 5 write to the first shard, 4 and 6 to the second; each notes what was acknowledged.
clients=(1 2 3 4 5 6)
gate shop -e 'CREATE TABLE entries (client BIGINT, number BIGINT, PRIMARY KEY (client, number))'
expect 10 "the table is known" gate shop -e 'SELECT client FROM entries ORDER BY number'
# Starts client $1 at number $2. Its process is the client program itself, so that it ends when it is told to.
note() {
  mariadb --no-defaults -uanybody -h127.0.0.1 -P"$gate_port" -N -B shop --unbuffered >"$run/noted.$1" 2>/dev/null \
    < <(seq "$2" 10000000 | sed "s/.*/INSERT INTO entries (client, number) VALUES ($1, &); SELECT &;/") &
  writers+=($!)
}
declare -A next
for client in "${clients[@]}"; do next[$client]=1; done
for round in 1 2 3; do
  bench oltp_read_write 8 60 --mysql-ignore-errors=all run >"$run/bench.log" 2>&1 &
  load=$!
  writers=()
  for client in "${clients[@]}"; do
    note "$client" "${next[$client]}"
  done
  sleep "$((2 + RANDOM % 3)).$((RANDOM % 10))"
  stop shard1 KILL
  began=$(date +%s%N)
  sleep 1
  second=$(tail -1 "$run/noted.4")
  start_server shard1 1 shop
  expect 60 "the first shard serves" gate shop -e 'SELECT * FROM entries WHERE client = 1 AND number = 1 FOR UPDATE'
  took=$((($(date +%s%N) - began) / 1000000 - 1000))
  sleep 1
  kill "$load" && wait "$load" 2>/dev/null || true
  # Those of the second shard still write.
  check "client 4 went on while the first shard was away" "$([ "$(tail -1 "$run/noted.4")" -gt "$second" ] && echo yes)" yes
  kill "${writers[@]}" 2>/dev/null || true
  wait "${writers[@]}" 2>/dev/null || true
  for client in "${clients[@]}"; do
    read -r count last <<<"$(gate shop -e "SELECT COUNT(*), MAX(number) FROM entries WHERE client = $client")"
    noted=$(tail -1 "$run/noted.$client")
    check "client $client noted something" "$([ "${noted:-0}" -ge "${next[$client]}" ] && echo yes)" yes
    check "numbers of client $client without holes" "$count" "$last"
    check "client $client had $noted acknowledged, $last found" \
      "$([ "$last" -ge "${noted:-0}" ] && [ "$last" -le "$((noted + 1))" ] && echo yes)" yes
    next[$client]=$((last + 1))
  done
  echo "round $round: entries ${next[*]}; the shard was back within $took ms"
done
check "rows of sysbench behind the kills" "$(gate shop -e 'SELECT COUNT(DISTINCT id) = COUNT(*) FROM sbtest1')" 1
