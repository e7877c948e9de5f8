#!/usr/bin/env bash
# MariaDB Connector/ODBC against a server, by isql: odbc.sh HOST PORT. Prints "ok NAME" or "failed NAME" for each check.
set -uo pipefail
driver=${ODBC_DRIVER:-/usr/lib/x86_64-linux-gnu/odbc/libmaodbc.so}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
printf '[db]\nDriver=%s\nSERVER=%s\nPORT=%s\nUSER=root\nDATABASE=odbc_clients\n' "$driver" "$1" "$2" >"$work/odbc.ini"
export ODBCINI=$work/odbc.ini
mariadb -h "$1" -P "$2" -u root -e 'DROP DATABASE IF EXISTS odbc_clients; CREATE DATABASE odbc_clients'

# check NAME STATEMENT TEXT: what isql prints has the text.
check() {
  printf '%s\n' "$2" | isql -b -v db >"$work/said" 2>&1
  if grep -qF -- "$3" "$work/said"; then echo "ok $1"; else echo "failed $1"; fi
}
check 'a table' 'CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(9), d DECIMAL(6,2), at DATETIME)' 'SQLRowCount returns 0'
check 'rows in' "INSERT INTO t (v, d, at) VALUES ('tea', 1.5, '2024-02-29 12:00:00'), (NULL, NULL, NULL)" 'SQLRowCount returns 2'
check 'rows out' 'SELECT v, d, at FROM t WHERE id = 1' '| tea      | 1.50    | 2024-02-29 12:00:00|'
check 'an error' "INSERT INTO t (id) VALUES (1)" "Duplicate entry '1' for key 't.PRIMARY'"
check 'tables' 'help' 'odbc_clients'
check 'columns' 'help t' '4 rows fetched'
mariadb -h "$1" -P "$2" -u root -e 'DROP DATABASE odbc_clients'
