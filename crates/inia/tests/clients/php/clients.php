<?php
// mysqli and PDO against a server: php clients.php HOST PORT. Prints "ok NAME" or "failed NAME" for each check.
declare(strict_types=1);
[, $host, $port] = $argv;

function check(string $name, callable $work): void
{
    try {
        $work();
        echo "ok $name\n";
    } catch (Throwable $error) {
        echo "failed $name\n";
        fwrite(STDERR, "$name: $error\n");
    }
}

function equal(mixed $expected, mixed $found): void
{
    if ($expected !== $found) {
        throw new Exception('expected ' . var_export($expected, true) . ', found ' . var_export($found, true));
    }
}

mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
$db = new mysqli($host, 'root', '', '', (int) $port);
$db->query('DROP DATABASE IF EXISTS php_clients');
$db->query('CREATE DATABASE php_clients');
$db->select_db('php_clients');
$db->query('CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20), n DECIMAL(10,2), d DATETIME(3), b BLOB)');

check('mysqli: charset', function () use ($db) {
    equal(true, $db->set_charset('utf8mb4'));
    equal('utf8mb4', $db->character_set_name());
});
check('mysqli: a prepared statement', function () use ($db) {
    $statement = $db->prepare('INSERT INTO t (v, n, d, b) VALUES (?, ?, ?, ?)');
    [$v, $n, $d, $b] = ['é日😀', 1.5, '2026-01-02 03:04:05.678', "\0\xff"];
    $statement->bind_param('sdss', $v, $n, $d, $b);
    equal(true, $statement->execute());
    equal(1, $statement->insert_id);
    $row = $db->execute_query('SELECT * FROM t WHERE id = ?', [1])->fetch_assoc();
    equal(['id' => 1, 'v' => $v, 'n' => '1.50', 'd' => $d, 'b' => $b], $row);
});
check('mysqli: fields', function () use ($db) {
    $fields = $db->query('SELECT * FROM t')->fetch_fields();
    $described = array_map(fn ($f) => [$f->name, $f->orgtable, $f->length, $f->charsetnr, $f->flags, $f->type, $f->decimals], $fields);
    equal([['id', 't', 11, 63, 49667, 3, 0], ['v', 't', 80, 255, 0, 253, 0], ['n', 't', 12, 63, 0, 246, 2],
        ['d', 't', 23, 63, 128, 12, 3], ['b', 't', 65535, 63, 144, 252, 0]], $described);
});
check('mysqli: several statements', function () use ($db) {
    $db->multi_query('SELECT 1; DO 1; SELECT 2');
    $found = [];
    do {
        if ($result = $db->store_result()) {
            $found[] = $result->fetch_row()[0];
        }
    } while ($db->more_results() && $db->next_result());
    equal(['1', '2'], $found);
});
check('mysqli: errors', function () use ($db) {
    try {
        $db->query('SELECT * FROM nothing');
        throw new Exception('no error');
    } catch (mysqli_sql_exception $error) {
        equal([1146, '42S02'], [$error->getCode(), $db->sqlstate]);
    }
});
check('mysqli: transactions', function () use ($db) {
    $db->begin_transaction();
    $db->query("INSERT INTO t (v) VALUES ('gone')");
    $db->rollback();
    equal('1', $db->query('SELECT COUNT(*) FROM t')->fetch_row()[0]);
});
check('mysqli: an unbuffered result', function () use ($db) {
    $rows = 0;
    foreach ($db->query('WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT * FROM n', MYSQLI_USE_RESULT) as $row) {
        $rows++;
    }
    equal(900, $rows);
});
check('mysqli: procedures', function () use ($db) {
    $db->query('CREATE PROCEDURE p(IN a INT, OUT b INT) BEGIN SELECT a; SET b = a * 2; END');
    $db->query('CALL p(21, @b)');
    $db->next_result();
    equal('42', $db->query('SELECT @b')->fetch_row()[0]);
});

foreach (['native' => false, 'emulated' => true] as $kind => $emulate) {
    $pdo = new PDO("mysql:host=$host;port=$port;dbname=php_clients;charset=utf8mb4", 'root', '', [PDO::ATTR_EMULATE_PREPARES => $emulate]);
    check("pdo $kind: parameters by name", function () use ($pdo, $kind) {
        $statement = $pdo->prepare('INSERT INTO t (v, n) VALUES (:v, :n)');
        $statement->execute(['v' => "it's $kind", 'n' => 2]);
        $id = (int) $pdo->lastInsertId();
        $found = $pdo->prepare('SELECT v, n FROM t WHERE id = ? LIMIT 1');
        $found->execute([$id]);
        equal([['v' => "it's $kind", 'n' => '2.00']], $found->fetchAll(PDO::FETCH_ASSOC));
    });
    check("pdo $kind: columns", function () use ($pdo) {
        $statement = $pdo->query('SELECT id, v, COUNT(*) FROM t GROUP BY id, v');
        equal(['LONG', 'VAR_STRING', 'LONGLONG'], array_map(fn ($at) => $statement->getColumnMeta($at)['native_type'], [0, 1, 2]));
        equal([11, 80, 21], array_map(fn ($at) => $statement->getColumnMeta($at)['len'], [0, 1, 2]));
    });
    check("pdo $kind: transactions and errors", function () use ($pdo) {
        $pdo->beginTransaction();
        $pdo->exec("DELETE FROM t");
        equal(true, $pdo->inTransaction());
        $pdo->rollBack();
        try {
            $pdo->exec('INSERT INTO t (id) VALUES (1)');
            throw new Exception('no error');
        } catch (PDOException $error) {
            equal(['23000', 1062], array_slice($error->errorInfo, 0, 2));
        }
    });
}
