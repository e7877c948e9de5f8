#!/usr/bin/env bash
# Runs the tools that Debian 12 packages for MySQL on a server, and prints "ok NAME" or "failed NAME" for each:
#
#   tools.sh HOST PORT WORK      root has no password; makes the databases shop, shop2 and slap, and tables in percona
#
# A tool has failed if its exit code says so, or if it complains of a statement. What each said is in WORK/NAME.out.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
host=$1 port=$2 work=$3
server=(-h "$host" -P "$port" -u root)
dsn=h=$host,P=$port,u=root
mkdir -p "$work"

try() {
  local name=$1
  shift
  if timeout 120 "$@" >"$work/$name.out" 2>&1 </dev/null &&
    ! grep -qiE '\bERROR [0-9]+|error [0-9]{4}|Failed to execute|Illegal division|Uncaught|DBD::|: error ' "$work/$name.out"; then
    echo "ok $name"
  else
    echo "failed $name"
  fi
}

# What a copy must have as the original has it.
contents() {
  mariadb "${server[@]}" --default-character-set=utf8mb4 -N "$1" -e "
    SELECT * FROM customer; SELECT id, customer, price, HEX(note) FROM sale ORDER BY id; SELECT * FROM parts ORDER BY id;
    SELECT id, ST_AsText(p) FROM points ORDER BY id; SELECT * FROM old ORDER BY a; SELECT * FROM b_named ORDER BY name;
    SELECT id FROM text_of WHERE MATCH (body) AGAINST ('tea'); SELECT spent(1); SHOW CREATE TABLE customer; SHOW CREATE TABLE sale;
    SHOW CREATE TABLE parts; SHOW CREATE TABLE points; SHOW CREATE PROCEDURE discount;
    SELECT event_name, event_definition, interval_field FROM information_schema.events WHERE event_schema = DATABASE();
    SELECT trigger_name, action_statement FROM information_schema.triggers WHERE trigger_schema = DATABASE()" 2>&1 |
    sed 's/`shop2`/`shop`/g'
}
same() { [ "$(contents shop)" = "$(contents "$1")" ] || { diff <(contents shop) <(contents "$1"); return 1; }; }
copy_by_dump() {
  mariadb "${server[@]}" -e 'DROP DATABASE IF EXISTS shop2; CREATE DATABASE shop2' &&
    mariadb-dump "${server[@]}" --routines --triggers --events --single-transaction shop | mariadb "${server[@]}" shop2 && same shop2
}
copy_by_mydumper() {
  rm -rf "$work/mydumper"
  mydumper "${server[@]}" --database shop --outputdir "$work/mydumper" --triggers --events --routines &&
    mariadb "${server[@]}" -e 'DROP DATABASE IF EXISTS shop2; CREATE DATABASE shop2' &&
    myloader "${server[@]}" --directory "$work/mydumper" --database shop2 && same shop2
}
dump_all() { mariadb-dump "${server[@]}" --all-databases --routines --triggers --events >"$work/all.sql" && tail -n 1 "$work/all.sql" | grep 'Dump completed'; }
export_metrics() {
  DATA_SOURCE_NAME="root@($host:$port)/" prometheus-mysqld-exporter --web.listen-address=127.0.0.1:0 --log.level=info \
    --collect.info_schema.tables --collect.info_schema.innodb_metrics --collect.info_schema.processlist \
    --collect.auto_increment.columns --collect.engine_innodb_status --collect.perf_schema.eventsstatements \
    --collect.perf_schema.tableiowaits --collect.perf_schema.indexiowaits >"$work/exporter.log" 2>&1 &
  local exporter=$! url=
  for _ in $(seq 50); do
    url=$(ss -ltnpH 2>/dev/null | sed -nE "s/.* (127\.0\.0\.1:[0-9]+) .*pid=$exporter,.*/\1/p" | head -1)
    [ -z "$url" ] || break
    sleep 0.1
  done
  curl -s "http://$url/metrics" >"$work/metrics"
  kill "$exporter"
  grep -c '^mysql_global_status' "$work/metrics"
  ! grep '^mysql_exporter_collector_success.* 0$' "$work/metrics"
}
explain() { mariadb "${server[@]}" shop -e 'EXPLAIN SELECT * FROM customer JOIN sale ON customer.id = sale.customer' | pt-visual-explain; }
import() {
  printf '9\tnine\n' >"$work/text_of.txt"
  mariadb-import "${server[@]}" --local shop "$work/text_of.txt"
}
without_replicas() {
  # Its exit code says that no replicas were found.
  pt-table-checksum --no-check-replication-filters --no-check-binlog-format -d shop "$dsn"
  [ $? = 8 ]
}
administer() {
  local command
  for command in 'create adm_made' '-f drop adm_made' debug extended-status flush-binary-log flush-engine-log flush-error-log \
    flush-general-log flush-hosts flush-logs flush-privileges flush-slow-log flush-status flush-tables flush-threads \
    flush-user-resources ping processlist reload refresh status variables version; do
    # shellcheck disable=SC2086
    mariadb-admin "${server[@]}" $command >/dev/null || { echo "$command"; return 1; }
  done
}

mariadb "${server[@]}" --default-character-set=utf8mb4 <"$here/shop.sql" || exit 1
mariadb "${server[@]}" -e 'SET GLOBAL local_infile = 1'
export -f contents same 2>/dev/null
functions=(copy_by_dump copy_by_mydumper dump_all export_metrics explain import without_replicas administer)
for name in "${functions[@]}"; do
  if "$name" >"$work/$name.out" 2>&1 </dev/null; then echo "ok $name"; else echo "failed $name"; fi
done
try mariadb-check mariadb-check "${server[@]}" -A
try mariadb-check-analyze mariadb-check "${server[@]}" -A --analyze
try mariadb-check-optimize mariadb-check "${server[@]}" --optimize shop
try mariadb-check-upgrade mariadb-check "${server[@]}" -A --check-upgrade
try mariadb-show mariadb-show "${server[@]}" --count shop
try mariadb-slap mariadb-slap "${server[@]}" --auto-generate-sql --create-schema=slap --number-of-queries=100 --concurrency=4
try mysqltuner mysqltuner --host "$host" --port "$port" --user root --nocolor --forcemem 24000 --forceswap 1000 --skippassword
try pt-archiver pt-archiver --source "$dsn,D=shop,t=sale" --where 'id > 100' --purge --limit 10
try pt-deadlock-logger pt-deadlock-logger --run-time=1 "$dsn"
try pt-duplicate-key-checker pt-duplicate-key-checker "$dsn"
try pt-find pt-find --host="$host" --port="$port" --user=root --ctime -1
try pt-heartbeat pt-heartbeat --create-table -D shop --update --run-time 1 "$dsn"
try pt-kill pt-kill --host="$host" --port="$port" --user=root --run-time=1 --interval=1 --busy-time=60 --print
try pt-mysql-summary pt-mysql-summary --host="$host" --port="$port" --user=root --sleep=1
try pt-online-schema-change pt-online-schema-change --alter 'ADD COLUMN extra INT DEFAULT 5' --execute "$dsn,D=shop,t=text_of"
try pt-show-grants pt-show-grants --host="$host" --port="$port" --user=root
try pt-variable-advisor pt-variable-advisor "$dsn"
