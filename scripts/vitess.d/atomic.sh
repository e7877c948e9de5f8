# Part of the test of scripts/vitess: a transaction of two shards is committed on both or on none, whoever dies meanwhile.
#
# With `transaction_mode` twopc the first shard keeps the decision (`_vt.dt_state`), the second a log of the statements
# that it has prepared (`_vt.redo_state`, `_vt.redo_statement`), and removes them in the transaction that it commits. Triggers
# on these tables hold the commit where the test wants it: for as many seconds as the table `holds.seconds` says.

chapter "Both shards commit, or none does"

# Moves 10 from account 1 to account 4 in the background; the first shard decides.
transfer() {
  gate shop -e "SET transaction_mode = 'twopc'; BEGIN; UPDATE account SET money = money - 10 WHERE id = 1;
    UPDATE account SET money = money + 10 WHERE id = 4; COMMIT" >"$run/transfer.log" 2>&1 &
  transferring=$!
}
money() { echo "$(on shard1 shop -e 'SELECT money FROM account WHERE id = 1') $(on shard2 shop -e 'SELECT money FROM account WHERE id = 4')"; }
hold() { on "$1" -e "DELETE FROM holds.seconds; INSERT INTO holds.seconds VALUES ($2)"; }
is() { [ "$(on "$1" -e "$2")" = "$3" ]; }
decided() { is shard1 'SELECT state FROM _vt.dt_state' 3; }
prepared() { is shard2 'SELECT COUNT(*) FROM _vt.redo_state' 1; }
# Whether a trigger holds the statement of a commit, of which Inia shows the whole and MySQL the trigger's part.
held() {
  is "$1" "SELECT COUNT(*) > 0 FROM information_schema.processlist WHERE user = 'vt' AND (info LIKE 'DO SLEEP(%'
    OR info LIKE 'update _vt.dt_state set %' OR info LIKE 'delete from _vt.redo_state %')" 1
}
settled() {
  is shard1 'SELECT COUNT(*) FROM _vt.dt_state' 0 && is shard2 'SELECT COUNT(*) FROM _vt.redo_state' 0 &&
    is shard2 'SELECT COUNT(*) FROM _vt.redo_statement' 0 && is shard1 'SELECT COUNT(*) FROM _vt.dt_participant' 0
}
# Whether the account that took part can be changed: no lock is left.
free() { gate shop -e 'UPDATE account SET owner = owner WHERE id IN (1, 4)'; }

for name in shard1 shard2; do
  on "$name" -e 'CREATE DATABASE holds; CREATE TABLE holds.seconds (n INT)'
done
on shard2 _vt -e 'CREATE TRIGGER hold_commit BEFORE DELETE ON redo_state FOR EACH ROW
  DO SLEEP((SELECT COALESCE(MAX(n), 0) FROM holds.seconds))'
on shard1 _vt -e 'CREATE TRIGGER hold_decision BEFORE UPDATE ON dt_state FOR EACH ROW
  DO SLEEP((SELECT COALESCE(MAX(n), 0) FROM holds.seconds))'
gate shop -e 'UPDATE account SET money = 100 WHERE id IN (1, 4)'

echo "nobody dies"
transfer
wait "$transferring" || true
expect 30 "nothing is left of the commit" settled
check "accounts 1 and 4" "$(money)" "90.00 110.00"

echo "the second shard's server dies when it has prepared, and is back before the first has decided"
hold shard1 10
transfer
expect 30 "the second shard has prepared" prepared
expect 30 "the first shard decides" held shard1
stop shard2 KILL
check "a read of the second shard" "$(gate shop -e 'SELECT 1 FROM account WHERE id = 4' 2>/dev/null || echo fails)" fails
start_server shard2 2 shop
expect 60 "the second shard's tablet serves" serves 2
wait "$transferring" || true
hold shard1 0
expect 60 "the transaction is resolved" settled
check "accounts 1 and 4" "$(money)" "80.00 120.00"
expect 20 "no lock is left" free

# The tablet of Vitess 21.0 that has lost a commit under way takes it for one that still goes on, until it starts again.
echo "the second shard's server and tablet die when the first has decided"
hold shard2 60
transfer
expect 30 "the first shard has decided" decided
expect 30 "the second shard commits" held shard2
check "accounts 1 and 4" "$(money)" "70.00 120.00"
stop shard2 KILL
stop tablet2 KILL
start_server shard2 2 shop
hold shard2 0
start_tablet 2 shop 80-
wait "$transferring" || true
expect 60 "the second shard's tablet serves" serves 2
expect 60 "the transaction is resolved" settled
check "accounts 1 and 4 after the commit was made up for" "$(money)" "70.00 130.00"
expect 20 "no lock is left" free

echo "the second shard's tablet alone dies there"
hold shard2 5
transfer
expect 30 "the first shard has decided" decided
expect 30 "the second shard commits" held shard2
stop tablet2 KILL
start_tablet 2 shop 80-
wait "$transferring" || true
expect 90 "the second shard's tablet serves" serves 2
hold shard2 0
expect 60 "the transaction is resolved" settled
check "accounts 1 and 4 after the commit was made up for" "$(money)" "60.00 140.00"
expect 20 "no lock is left" free

echo "the first shard's server dies before it has decided"
hold shard1 60
transfer
expect 30 "the second shard has prepared" prepared
expect 30 "the first shard decides" held shard1
stop shard1 KILL
start_server shard1 1 shop
hold shard1 0
wait "$transferring" || true
expect 60 "the first shard's tablet serves" serves 1
expect 60 "the transaction is resolved" settled
check "accounts 1 and 4 after the transaction was rolled back" "$(money)" "60.00 140.00"
expect 20 "no lock is left" free

on shard2 -e 'DROP TRIGGER _vt.hold_commit; DROP DATABASE holds'
on shard1 -e 'DROP TRIGGER _vt.hold_decision; DROP DATABASE holds'
