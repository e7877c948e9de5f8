'use strict';

// The same statements by this package and by mysql2 through a server for the same database: rows,
// outcomes and errors are alike.

const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const inia = require('..');
const mysql2 = require('mysql2/promise');

const STATEMENTS = [
  ['CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n DECIMAL(9,2), s VARCHAR(20), at DATETIME(3), d DATE, j JSON, b BLOB, f FLOAT)'],
  ['INSERT INTO t (n, s, at, d, j, b, f) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ['1.50', 'é', new Date(2024, 0, 2, 3, 4, 5, 6), '2024-01-02', '{"k": [1, "x"]}', Buffer.from([1, 2]), 1.5]],
  ['INSERT INTO t (s) VALUES (?), (?)', ['a', null]],
  ['SELECT * FROM t ORDER BY id'],
  ['UPDATE t SET s = ? WHERE id > ?', ['z', 1]],
  ['SELECT COUNT(*) AS n, SUM(n) AS total, MAX(at) AS last FROM t'],
  ["SELECT TIMEDIFF('10:00:00', '11:30:00') AS t, YEAR('2024-05-06') AS y, 1 = 1 AS yes, NULL AS nothing"],
  ['SELECT 9223372036854775807 AS big, 18446744073709551615 AS bigger'],
  ['INSERT INTO t (id) VALUES (1)'],
  ['SELECT * FROM missing'],
  ['DELETE FROM t'],
  ['DROP TABLE t'],
];

let database;
let server;
let own;
let theirs;

before(async () => {
  database = await inia.open(':memory:');
  own = await database.connect({ database: 'own' });
  await (await database.connect({ database: 'theirs' })).end();
  server = await database.serve('127.0.0.1:0');
  theirs = await mysql2.createConnection({ uri: `${server.url}theirs`, supportBigNumbers: true });
});

after(async () => {
  await theirs.end();
  await own.end();
  await server.stop();
  await database.close();
});

async function outcome(connection, call, [sql, values]) {
  try {
    const [result] = await connection[call](sql, values);
    if (Array.isArray(result)) return result.map((row) => ({ ...row }));
    const { affectedRows, insertId, warningStatus, changedRows } = result;
    return { affectedRows, insertId, warningStatus, changedRows: changedRows ?? 0 };
  } catch ({ code, errno, sqlState, sqlMessage }) {
    return { code, errno, sqlState, sqlMessage: sqlMessage.replace('theirs.', 'own.') };
  }
}

for (const call of ['query', 'execute']) {
  for (const statement of STATEMENTS) {
    test(`${call}: ${statement[0]}`, async () => {
      assert.deepEqual(await outcome(own, call, statement), await outcome(theirs, call, statement));
    });
  }
}
