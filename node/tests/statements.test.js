'use strict';

// Statements, their results and their errors, on a database in memory.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const inia = require('..');

/** Runs a test with a connection of its own. */
function withConnection(name, options, work) {
  test(name, async () => {
    const connection = await inia.createConnection(options);
    try {
      await work(connection);
    } finally {
      await connection.end();
    }
  });
}

withConnection('a change gives its counts and the id that it made', {}, async (connection) => {
  await connection.query('CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n INT)');
  const [inserted, fields] = await connection.execute('INSERT INTO t (n) VALUES (?), (?)', [7, 8]);
  assert.equal(fields, undefined);
  assert.deepEqual([inserted.affectedRows, inserted.insertId], [2, 1]);
  const [updated] = await connection.query('UPDATE t SET n = 8');
  assert.deepEqual([updated.affectedRows, updated.changedRows], [1, 1]);
});

withConnection('rows are objects, or arrays where that is asked for', {}, async (connection) => {
  const sql = "SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, NULL";
  const [rows, fields] = await connection.query(sql);
  assert.deepEqual(rows, [{ a: 1, b: 'x' }, { a: 2, b: null }]);
  assert.deepEqual(fields.map((field) => field.name), ['a', 'b']);
  const [arrays] = await connection.query({ sql, rowsAsArray: true });
  assert.deepEqual(arrays, [[1, 'x'], [2, null]]);
});

withConnection('every kind of value comes back as it went', { timezone: 'Z' }, async (connection) => {
  await connection.query(`CREATE TABLE t (i BIGINT, u BIGINT UNSIGNED, d DOUBLE, n DECIMAL(20,3), s TEXT, b BLOB,
    j JSON, at DATETIME(3), day DATE, span TIME, flag BOOLEAN)`);
  const moment = new Date(Date.UTC(2024, 1, 29, 23, 59, 58, 123));
  const values = [-5, 2n ** 64n - 1n, 0.5, '12345678901234567.125', 'naïve ☃', Buffer.from([0, 255]),
    { a: [1, null] }, moment, moment, '-12:34:56', true];
  await connection.execute(`INSERT INTO t VALUES (${values.map(() => '?').join()})`, values);
  const [[row]] = await connection.execute('SELECT * FROM t');
  assert.deepEqual(row, {
    i: -5, u: '18446744073709551615', d: 0.5, n: '12345678901234567.125', s: 'naïve ☃', b: Buffer.from([0, 255]),
    j: { a: [1, null] }, at: moment, day: new Date(Date.UTC(2024, 1, 29)), span: '-12:34:56', flag: 1,
  });
});

withConnection('options choose other types', {}, async (connection) => {
  const sql = "SELECT CAST('1.50' AS DECIMAL(5,2)) AS n, 9007199254740993 AS i, DATE'2024-01-02' AS d, JSON_ARRAY(1) AS j";
  const options = { decimalNumbers: true, bigInts: true, dateStrings: true, jsonStrings: true };
  const [[row]] = await connection.query({ sql, ...options });
  assert.deepEqual(row, { n: 1.5, i: 9007199254740993n, d: '2024-01-02', j: '[1]' });
  const [[dates]] = await connection.query({ sql: "SELECT DATE'2024-01-02' AS d, TIMESTAMP'2024-01-02 03:04:05' AS t", dateStrings: ['DATE'] });
  assert.deepEqual(dates, { d: '2024-01-02', t: new Date(2024, 0, 2, 3, 4, 5) });
});

withConnection('a date with zero parts is an invalid Date', {}, async (connection) => {
  await connection.query("SET sql_mode = ''");
  const [[row]] = await connection.query("SELECT CAST('0000-00-00' AS DATE) AS d");
  assert.ok(row.d === null || Number.isNaN(row.d.getTime()));
});

withConnection('query writes values into the text, escaped', {}, async (connection) => {
  const evil = "'; DROP TABLE t; -- \\";
  const [[row]] = await connection.query('SELECT ? AS s, ? IN (?) AS found', [evil, 2, [1, 2, 3]]);
  assert.deepEqual(row, { s: evil, found: 1 });
  await connection.query('CREATE TABLE t (a INT, b TEXT)');
  await connection.query('INSERT INTO ?? SET ?', ['t', { a: 1, b: evil }]);
  const [rows] = await connection.query('SELECT * FROM t');
  assert.deepEqual(rows, [{ a: 1, b: evil }]);
});

withConnection('placeholders may have names', { namedPlaceholders: true }, async (connection) => {
  const values = { a: 1, b: 'x' };
  for (const call of ['query', 'execute']) {
    const [[row]] = await connection[call]('SELECT :b AS b, :a AS a, :a + 1 AS c', values);
    assert.deepEqual([row.b, Number(row.a), Number(row.c)], ['x', 1, 2]);
  }
});

withConnection('errors have MySQL\'s number, name and SQLSTATE', {}, async (connection) => {
  await connection.query('CREATE TABLE t (id INT PRIMARY KEY)');
  await connection.query('INSERT INTO t VALUES (1)');
  await assert.rejects(connection.query('INSERT INTO t VALUES (1)'), {
    code: 'ER_DUP_ENTRY', errno: 1062, sqlState: '23000', sqlMessage: "Duplicate entry '1' for key 't.PRIMARY'",
    sql: 'INSERT INTO t VALUES (1)',
  });
  await assert.rejects(connection.query('SELEC 1'), { code: 'ER_PARSE_ERROR', errno: 1064 });
  await assert.rejects(connection.execute('SELECT ?', [undefined]), TypeError);
  await assert.rejects(connection.execute('SELECT ?', [NaN]), /NaN/);
});

withConnection('a text has one statement unless several are allowed', {}, async (connection) => {
  await assert.rejects(connection.query('SELECT 1; SELECT 2'), { errno: 1064 });
});

withConnection('several statements give lists of results', { multipleStatements: true }, async (connection) => {
  const [results, fields] = await connection.query('SELECT 1 AS a; CREATE TABLE t (n INT); SELECT 2 AS b');
  assert.deepEqual([results[0], results[2]], [[{ a: 1 }], [{ b: 2 }]]);
  assert.equal(results[1].affectedRows, 0);
  assert.deepEqual(fields.map((it) => it?.[0].name), ['a', undefined, 'b']);
  await assert.rejects(connection.query('INSERT INTO t VALUES (1); INSERT INTO missing VALUES (1)'), { errno: 1146 });
  const [[{ n }]] = await connection.query('SELECT COUNT(*) AS n FROM t');
  assert.equal(n, 1);
});

withConnection('CALL gives the results of the procedure and its outcome', {}, async (connection) => {
  await connection.query('CREATE PROCEDURE p(x INT) BEGIN SELECT x AS a; SELECT x + 1 AS b; END');
  const [[first, second, header]] = await connection.query('CALL p(?)', [5]);
  assert.deepEqual([first, second, header.affectedRows], [[{ a: 5 }], [{ b: 6 }], 0]);
});

withConnection('a transaction commits or rolls back', {}, async (connection) => {
  await connection.query('CREATE TABLE t (n INT)');
  await connection.beginTransaction();
  await connection.execute('INSERT INTO t VALUES (?)', [1]);
  await connection.rollback();
  await connection.beginTransaction();
  await connection.execute('INSERT INTO t VALUES (?)', [2]);
  await connection.commit();
  const [rows] = await connection.query('SELECT n FROM t');
  assert.deepEqual(rows, [{ n: 2 }]);
});

withConnection('warnings are shown', {}, async (connection) => {
  const [, ] = await connection.query("SELECT 'x' + 1 AS n");
  const message = "Truncated incorrect DOUBLE value: 'x'";
  assert.deepEqual(await connection.warnings(), [{ level: 'Warning', code: 1292, message }]);
});

withConnection('a prepared statement runs many times', {}, async (connection) => {
  const statement = await connection.prepare('SELECT ? + 1 AS n');
  for (const n of [1, 2, 3]) {
    const [[row]] = await statement.execute([n]);
    assert.equal(Number(row.n), n + 1);
  }
  await statement.close();
  await assert.rejects(connection.prepare('SELECT FROM'), { errno: 1064 });
});

withConnection('changeUser returns to a new connection\'s state', { database: 'first' }, async (connection) => {
  await connection.query('CREATE DATABASE second');
  await connection.query('SET @a = 1');
  await connection.changeUser({ database: 'second' });
  const [[row]] = await connection.query('SELECT DATABASE() AS d, @a AS a');
  assert.deepEqual(row, { d: 'second', a: null });
});
