#!/usr/bin/env bash
# Opens phpMyAdmin's pages, as Debian packages it, on a server, and prints "ok PAGE" or "failed PAGE" for each:
#
#   phpmyadmin.sh HOST PORT WORK      the server has the database of ../tools/shop.sql, and root has no password
#
# A page has failed where it is missing, or shows an error of PHP or of the server beyond the hints that every page has.
set -uo pipefail
host=$1 port=$2 work=$3
mkdir -p "$work"
rm -rf "$work/site"
cp -r /usr/share/phpmyadmin "$work/site"
# Debian's copy reads its settings from /etc.
sed -i "s|'/etc/phpmyadmin/config.inc.php'|'$work/site/config.inc.php'|" "$work/site/libraries/vendor_config.php"
cat >"$work/site/config.inc.php" <<PHP
<?php
\$cfg['blowfish_secret'] = str_repeat('k', 32);
\$cfg['Servers'][1] = ['auth_type' => 'config', 'host' => '$host', 'port' => '$port', 'user' => 'root', 'password' => '',
    'AllowNoPassword' => true];
\$cfg['TempDir'] = '$work';
\$cfg['SendErrorReports'] = 'never';
PHP
web=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' 2>/dev/null ||
  php -r '$s = stream_socket_server("tcp://127.0.0.1:0"); echo explode(":", stream_socket_get_name($s, false))[1];')
php -d memory_limit=512M -d "include_path=.:/usr/share/php" -t "$work/site" -S "127.0.0.1:$web" >"$work/php.log" 2>&1 &
site=$!
trap 'kill $site' EXIT
for _ in $(seq 50); do curl -s -o /dev/null "http://127.0.0.1:$web/" && break; sleep 0.1; done

judge() {
  local name=$1 code=$2
  if [ "$code" = 200 ] && ! grep -qE 'Fatal error|Uncaught|MySQL said|#[0-9]{4} - |alert-danger" role="alert">.*(SQL|Error)' "$work/page"; then
    echo "ok $name"
  else
    echo "failed $name"
    cp "$work/page" "$work/failed-$(echo "$name" | tr '/?&= ' '_____').html"
  fi
}
page() {
  judge "$1" "$(curl -s -b "$work/cookies" -c "$work/cookies" -o "$work/page" -w '%{http_code}' "http://127.0.0.1:$web/index.php?route=$1")"
}

pages=(/ /server/databases /server/sql /server/status /server/status/processes /server/status/queries /server/status/variables
  /server/status/monitor /server/status/advisor /server/privileges /server/export /server/import /server/replication /server/variables
  /server/collations /server/engines /server/engines/InnoDB /server/engines/MyISAM /server/engines/PERFORMANCE_SCHEMA /server/plugins
  /server/binlog /server/user-groups "/navigation&ajax_request=1" /preferences/manage /preferences/features /themes /license
  "/server/privileges&db=shop&checkprivsdb=shop&viewing_mode=db" "/server/privileges&username=clerk&hostname=localhost")
for what in structure sql search qbe multi-table-query export import operations routines events triggers tracking designer \
  central-columns data-dictionary; do
  pages+=("/database/$what&db=shop")
done
for what in structure sql search change export import operations tracking relation indexes zoom-search find-replace; do
  pages+=("/table/$what&db=shop&table=customer")
done
for schema in information_schema performance_schema mysql sys; do
  pages+=("/database/structure&db=$schema")
done
pages+=("/sql&db=shop&table=customer&pos=0" "/sql&db=shop&table=a_total&pos=0" "/table/structure&db=shop&table=parts"
  "/table/operations&db=shop&table=old" "/table/triggers&db=shop&table=sale" "/table/gis-visualization&db=shop&table=points"
  "/table/chart&db=shop&table=sale" "/view/operations&db=shop&table=a_total" "/view/create&db=shop" "/table/create&db=shop"
  "/normalization&db=shop&table=customer" "/table/add-field&db=shop&table=customer&num_fields=1&field_where=last"
  "/database/routines&db=shop&edit_item=1&item_name=discount&item_type=PROCEDURE" "/sql&db=mysql&table=user&pos=0"
  "/database/events&db=shop&edit_item=1&item_name=nightly" "/sql&db=information_schema&table=TABLES&pos=0")
for route in "${pages[@]}"; do page "$route"; done

token=$(curl -s -b "$work/cookies" -c "$work/cookies" "http://127.0.0.1:$web/index.php?route=/" | grep -o 'name="token" value="[^"]*"' | head -1 | cut -d'"' -f4)
post() {
  judge "POST $1 $2" "$(curl -s -b "$work/cookies" -c "$work/cookies" -o "$work/page" -w '%{http_code}' \
    --data-urlencode "token=$token" -d "$2" "http://127.0.0.1:$web/index.php?route=$1")"
}
post /sql "db=shop&sql_query=SELECT+*+FROM+customer&ajax_request=true"
post /import "db=shop&sql_query=EXPLAIN+SELECT+*+FROM+sale&ajax_request=true"
post /export "export_type=server&export_method=quick&quick_or_custom=quick&what=sql&db_select[]=shop&output_format=astext"
for work_of in check checksum optimize analyze repair; do
  post "/table/maintenance/$work_of" "db=shop&selected_tbl[]=customer&selected_tbl[]=sale"
done
