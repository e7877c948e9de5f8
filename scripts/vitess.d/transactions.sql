-- Transactions, savepoints and sequences over shards. Customers 1, 2 and 3 are of the shard `-80`, 4 is of `80-`.

-- # What is committed is there, what is rolled back is not

CREATE TABLE account (id BIGINT PRIMARY KEY, owner VARCHAR(20), money DECIMAL(10,2) NOT NULL) ENGINE=InnoDB;
-- wait 2
INSERT INTO account VALUES (1, 'Ada', 100), (2, 'Bo', 100), (3, 'Cy', 100), (4, 'Di', 100);
BEGIN;
UPDATE account SET money = money - 30 WHERE id = 1;
UPDATE account SET money = money + 30 WHERE id = 4;
SELECT id, money FROM account ORDER BY id;
-- > 1 | 70.00
-- > 2 | 100.00
-- > 3 | 100.00
-- > 4 | 130.00
-- session other
SELECT id, money FROM account WHERE id IN (1, 4) ORDER BY id;
-- > 1 | 100.00
-- > 4 | 100.00
-- session main
COMMIT;
-- session other
SELECT id, money FROM account WHERE id IN (1, 4) ORDER BY id;
-- > 1 | 70.00
-- > 4 | 130.00
-- session main
START TRANSACTION;
DELETE FROM account;
SELECT COUNT(*) FROM account;
-- > 0
ROLLBACK;
SELECT SUM(money) FROM account;
-- > 400.00
SET autocommit = 0;
UPDATE account SET owner = UPPER(owner);
ROLLBACK;
UPDATE account SET owner = LOWER(owner) WHERE id > 2;
COMMIT;
SET autocommit = 1;
SELECT owner FROM account ORDER BY id;
-- > Ada
-- > Bo
-- > cy
-- > di

-- # Part of a transaction is taken back

BEGIN;
UPDATE account SET money = 1 WHERE id = 1;
SAVEPOINT a;
UPDATE account SET money = 2 WHERE id IN (2, 4);
SAVEPOINT b;
UPDATE account SET money = 3;
ROLLBACK TO b;
SELECT money FROM account ORDER BY id;
-- > 1.00
-- > 2.00
-- > 100.00
-- > 2.00
RELEASE SAVEPOINT b;
ROLLBACK TO SAVEPOINT a;
COMMIT;
SELECT money FROM account ORDER BY id;
-- > 1.00
-- > 100.00
-- > 100.00
-- > 130.00

-- # A statement that fails on one shard changes none, and its transaction goes on

BEGIN;
INSERT INTO account VALUES (5, 'Ed', 5);
INSERT INTO account VALUES (6, 'Fi', 6), (4, 'again', 0), (7, 'Gus', 7), (8, 'Hal', 8);
-- ! 1062
SELECT COUNT(*) FROM account;
-- > 5
COMMIT;
SELECT id FROM account ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5

-- # Locks are held to the end of the transaction

SET innodb_lock_wait_timeout = 1;
BEGIN;
SELECT money FROM account WHERE id = 2 FOR UPDATE;
-- > 100.00
-- session other
SET innodb_lock_wait_timeout = 1;
UPDATE account SET money = 0 WHERE id = 2;
-- ! 1205
SELECT money FROM account WHERE id = 2 FOR UPDATE NOWAIT;
-- ! 3572
SELECT id FROM account WHERE id = 2 FOR UPDATE SKIP LOCKED;
SELECT money FROM account WHERE id = 3 LOCK IN SHARE MODE;
-- > 100.00
-- session main
ROLLBACK;
-- session other
UPDATE account SET money = 90 WHERE id = 2;
SELECT money FROM account WHERE id = 2;
-- > 90.00

-- # A snapshot is read again as it was

START TRANSACTION READ ONLY;
SELECT SUM(money) FROM account;
-- > 326.00
UPDATE account SET money = 0;
-- ! 1792
COMMIT;
SET transaction_isolation = 'READ-COMMITTED';
BEGIN;
SELECT money FROM account WHERE id = 3;
-- > 100.00
-- session main
UPDATE account SET money = 80 WHERE id = 3;
-- session other
SELECT money FROM account WHERE id = 3;
-- > 80.00
COMMIT;

-- # Atomic commits over shards, by the tables that Vitess keeps in `_vt`

-- session atomic
-- vitess
SET transaction_mode = 'twopc';
BEGIN;
UPDATE account SET money = money - 10 WHERE id = 1;
UPDATE account SET money = money + 10 WHERE id = 4;
INSERT INTO account VALUES (6, 'it''s "Fi" \\ é', 6), (7, NULL, 7);
COMMIT;
SELECT * FROM account ORDER BY id;
-- > 1 | Ada | -9.00
-- > 2 | Bo | 90.00
-- > 3 | cy | 80.00
-- > 4 | di | 140.00
-- > 5 | Ed | 5.00
-- > 6 | it's "Fi" \\ é | 6.00
-- > 7 | NULL | 7.00
BEGIN;
UPDATE account SET money = 0;
ROLLBACK;
SELECT SUM(money) FROM account;
-- > 319.00
-- vitess
SHOW UNRESOLVED TRANSACTIONS FOR shop;

-- # Numbers for all shards come from one table of the unsharded keyspace

-- vitess
CREATE TABLE plain.order_ids (id BIGINT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence';
-- vitess
INSERT INTO plain.order_ids (id, next_id, cache) VALUES (0, 1000, 10);
-- wait 2
-- vitess
SELECT NEXT 3 VALUES FROM plain.order_ids;
-- > 1000
-- vitess
INSERT INTO orders (customer_id, amount) VALUES (21, 1), (22, 2), (23, 3), (24, 4), (25, 5);
-- vitess
SELECT LAST_INSERT_ID();
-- > 1003
-- vitess
SELECT id, customer_id FROM orders WHERE customer_id > 20 ORDER BY id;
-- > 1003 | 21
-- > 1004 | 22
-- > 1005 | 23
-- > 1006 | 24
-- > 1007 | 25
-- vitess
SELECT next_id, cache FROM plain.order_ids;
-- > 1010 | 10
-- vitess
DELETE FROM orders WHERE customer_id > 20;
