# The test of scripts/vitess: what a shard's server owes Vitess, chapter by chapter. One line `WRONG` for each thing that
# is not as it must be; the exit code is 0 if there is none.

. "$here/answers.sh"

chapter() { printf '\n# %s\n' "$1"; }

# Holds what is there to what must be.
check() {
  asked=$((asked + 1))
  [ "$2" = "$3" ] || { wrong=$((wrong + 1)) && printf 'WRONG %s\n  is: %s\n  must be: %s\n' "$1" "$2" "$3"; }
}

# Waits for a command, and counts it as wrong if it does not come true.
expect() {
  asked=$((asked + 1))
  await "$@" || wrong=$((wrong + 1))
}

# Holds that nothing was refused that Vitess asked for of itself, since the server's start or since the last time. Left out
# is `set @@sql_mode = 'default'`, with which vttablet gives a connection its settings back: MySQL refuses that, too.
never_refused() {
  local name sums=performance_schema.events_statements_summary_by_digest
  for name in "${servers[@]}"; do
    check "statements of Vitess that failed on $name" "$(on "$name" -e "
      SELECT SUM_ERRORS, DIGEST_TEXT FROM $sums WHERE SUM_ERRORS > 0 AND (DIGEST_TEXT LIKE '%\`_vt\`%'
        OR DIGEST_TEXT LIKE '%information_schema%' OR DIGEST_TEXT LIKE '%@@%' OR DIGEST_TEXT LIKE 'SHOW %')
        AND DIGEST_TEXT NOT LIKE 'SET @@%'")" ""
    on "$name" -e "TRUNCATE $sums"
  done
}

chapter "Three tablets make themselves at home"
count_errors=yes
start_all
for name in "${servers[@]}"; do
  check "tables of Vitess's own on $name" \
    "$(on "$name" -e "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '_vt'")" 19
  # What Vitess looked for before it had made it was not there: those errors are none of the server's.
  on "$name" -e 'TRUNCATE performance_schema.events_statements_summary_by_digest'
done
check "what vtgate sees" "$(gate -e 'SHOW VITESS_TABLETS' | cut -f2,3,4,5 | tr '\t\n' ' ,')" \
  "plain 0 PRIMARY SERVING,shop -80 PRIMARY SERVING,shop 80- PRIMARY SERVING,"

chapter "Two shards answer as one server does"
if [ -n "${VITESS_REFERENCE:-}" ]; then
  reference=(-uroot -h"${VITESS_REFERENCE%:*}" -P"${VITESS_REFERENCE##*:}")
else
  reference=(-uroot -h127.0.0.1 -P"$reference_port")
  spawn reference "$inia" serve --data "$run/reference" --port "$reference_port" --buffer-pool-size 128M
fi
await 60 "the server without shards answers" mariadb --no-defaults "${reference[@]}" -e 'DO 1'
mariadb --no-defaults "${reference[@]}" -e \
  'DROP DATABASE IF EXISTS shop; DROP DATABASE IF EXISTS plain; CREATE DATABASE shop; CREATE DATABASE plain'
for name in answers transactions settings; do
  document "$name.sql"
done
for id in 1 2 3 4; do
  shards+=$(on shard1 shop -e "SELECT COUNT(*) FROM customer WHERE id = $id")
done
check "customers 1, 2 and 3 are in the first shard" "$shards" 1110

chapter "A column can be used as soon as ALTER TABLE has ended"
for column in x y z; do
  gate shop -e "ALTER TABLE stock ADD COLUMN $column INT DEFAULT 1"
  expect 10 "vtgate knows column $column" gate shop -e "SELECT $column FROM stock UNION SELECT pieces FROM stock"
done
gate shop -e 'ALTER TABLE stock DROP COLUMN x, DROP COLUMN y, DROP COLUMN z'

chapter "Tools read and change the definitions"
control GetSchema --tables customer,big c1-101 >"$run/schema.json"
check "columns of GetSchema" "$(grep -c '"name": "\(id\|name\|city\|joined\)"' "$run/schema.json")" 4
check "ApplySchema" "$(control ApplySchema --sql 'CREATE TABLE account_log (id BIGINT PRIMARY KEY, what TEXT)' shop \
  >/dev/null && for n in 1 2; do on shard$n shop -e "SHOW TABLES LIKE 'account_log'"; done | tr '\n' ' ')" \
  "account_log account_log "
asked=$((asked + 4))
control ValidateSchemaKeyspace shop >"$run/validated" || wrong=$((wrong + 1))
check "ValidateSchemaKeyspace" "$(grep -c 'differ\|error' "$run/validated" || true)" 0
control GetPermissions c1-101 >"$run/permissions.json" || wrong=$((wrong + 1))
control GetFullStatus c1-101 >"$run/status.json" || wrong=$((wrong + 1))
control ReloadSchemaKeyspace shop >/dev/null || wrong=$((wrong + 1))

chapter "A tablet that starts again finds its tables as it made them"
for n in 1 2 3; do stop "tablet$n"; done
for name in "${servers[@]}"; do
  on "$name" -e "SET GLOBAL general_log_file = '$run/$name/general.log'; SET GLOBAL general_log = ON"
done
start_tablets
for n in 1 2 3; do expect 60 "tablet $n serves again" serves "$n"; done
sleep 2
for name in "${servers[@]}"; do
  on "$name" -e 'SET GLOBAL general_log = OFF'
  check "tables of its own that were read on $name" \
    "$(grep -ci 'show create table `\?_vt`\?\.' "$run/$name/general.log")" 19
  check "definitions that were changed on $name" \
    "$(grep -i '	\(alter\|create\|drop\) ' "$run/$name/general.log" | grep -vi 'create database if not exists' || true)" ""
done
expect 30 "vtgate finds the tablets" gate shop -e 'SELECT * FROM customer ORDER BY id'

never_refused
. "$here/atomic.sh"
never_refused
. "$here/load.sh"
never_refused

chapter "Servers that are stopped leave whole files"
stop_all
if [ -z "${VITESS_MYSQLD:-}" ]; then
  for name in "${servers[@]}"; do
    check "inia check of $name" "$("$inia" check "$run/$name" >"$run/checked" 2>&1 && echo good || cat "$run/checked")" good
  done
fi

printf '\n%s answers, %s wrong\n' "$asked" "$wrong"
[ "$wrong" = 0 ]
