-- What it executed after that, for whom, before it was killed with SIGKILL. The last of `old` sees to it that
-- nothing is purged, `open` does not come to its end, and the last commit of `main` makes all of it durable.
old: START TRANSACTION WITH CONSISTENT SNAPSHOT;
old: SELECT COUNT(*) FROM t;
main: DELETE FROM t WHERE id > 460 AND id <= 490;
main: UPDATE t SET c = CONCAT('new ', id) WHERE id % 100 = 1;
main: DELETE FROM large WHERE name = 'c';
main: INSERT INTO large VALUES ('d', REPEAT('later ', 4000));
main: CREATE TABLE late (id INT PRIMARY KEY, v INT, KEY (v));
open: BEGIN;
open: DELETE FROM t WHERE id BETWEEN 200 AND 300;
open: UPDATE t SET k = -k, c = CONCAT('never ', id) WHERE id BETWEEN 320 AND 370;
open: INSERT INTO t (id, k, c) SELECT n + 5000, n, 'never' FROM d.numbers WHERE n <= 60;
open: DELETE FROM t WHERE id BETWEEN 5000 AND 5030;
open: UPDATE large SET body = 'never' WHERE name = 'a';
open: DELETE FROM large WHERE name = 'd';
main: INSERT INTO late VALUES (1, 10), (2, 20);
