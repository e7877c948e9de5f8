'use strict';

// Several connections: locks between them, pools, streams, interrupts, directories, templates.

const assert = require('node:assert/strict');
const fs = require('node:fs/promises');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const inia = require('..');

async function withDirectory(work) {
  const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'inia-node-'));
  try {
    await work(path.join(directory, 'data'));
  } finally {
    await fs.rm(directory, { recursive: true });
  }
}

const numbers = (count) => `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n`;

test('more connections wait for a lock than a pool of threads has, and its owner goes on', async () => {
  const pool = inia.createPool({ connectionLimit: 12 });
  await pool.query('CREATE TABLE t (id INT PRIMARY KEY, n INT)');
  await pool.query('INSERT INTO t VALUES (1, 0)');
  const owner = await pool.getConnection();
  await owner.beginTransaction();
  await owner.query('UPDATE t SET n = n + 1');
  const others = Array.from({ length: 11 }, () => pool.execute('UPDATE t SET n = n + ? WHERE id = ?', [1, 1]));
  await owner.commit();
  owner.release();
  await Promise.all(others);
  const [[{ n }]] = await pool.query('SELECT n FROM t');
  assert.equal(n, 12);
  await pool.end();
  await assert.rejects(pool.query('SELECT 1'), /closed/);
});

test('a pool makes no more connections than its limit', async () => {
  const pool = inia.createPool({ connectionLimit: 2 });
  const ids = await Promise.all(Array.from({ length: 20 }, async () => {
    const [[{ id }]] = await pool.query('SELECT CONNECTION_ID() AS id');
    return id;
  }));
  assert.ok(new Set(ids).size <= 2);
  await pool.end();
});

test('rows stream while they are made, and an abandoned stream ends its statement', async () => {
  const connection = await inia.createConnection();
  await connection.query('SET cte_max_recursion_depth = 1000000');
  let sum = 0;
  for await (const row of connection.stream(numbers(100_000))) sum += row.i;
  assert.equal(sum, 5_000_050_000);
  for await (const row of connection.stream(numbers(1_000_000))) {
    if (row.i === 3) break;
  }
  const [[row]] = await connection.query('SELECT 1 AS one');
  assert.equal(row.one, 1);
  await connection.end();
});

test('interrupt ends the statement that runs', async () => {
  const connection = await inia.createConnection();
  const sleeping = connection.query('SELECT i, SLEEP(100) FROM (SELECT 1 AS i) AS t');
  // An interrupt that comes before the statement ends nothing, so they come until one does.
  const timer = setInterval(() => connection.interrupt(), 20);
  await sleeping.then(([[row]]) => assert.equal(row['SLEEP(100)'], 1), (error) => assert.equal(error.errno, 1317));
  clearInterval(timer);
  await connection.end();
});

test('a directory keeps what was committed, and opens once for all of a process', async () => {
  await withDirectory(async (directory) => {
    const first = await inia.createConnection({ path: directory });
    const second = await inia.createConnection({ path: directory });
    await first.query('CREATE TABLE t (n INT)');
    await first.query('INSERT INTO t VALUES (1)');
    const [[row]] = await second.query('SELECT n FROM t');
    assert.equal(row.n, 1);
    await assert.rejects(inia.open(directory), /lock|use/i);
    await first.end();
    await second.end();
    const third = await inia.createConnection(directory);
    const [rows] = await third.query('SELECT n FROM t');
    assert.deepEqual(rows, [{ n: 1 }]);
    await third.end();
  });
});

test('a directory that must exist and does not is an error', async () => {
  await withDirectory((directory) => assert.rejects(inia.open(directory, { mustExist: true })));
});

test('copies of a template are databases of their own', async () => {
  const database = await inia.open(':memory:');
  const setup = await database.connect();
  await setup.query('CREATE TABLE t (n INT)');
  await setup.query('INSERT INTO t VALUES (1)');
  await setup.end();
  const template = await database.intoTemplate();
  const copies = [await template.open(), await template.open()];
  const connections = await Promise.all(copies.map((copy) => copy.connect()));
  await connections[0].query('INSERT INTO t VALUES (2)');
  const counts = await Promise.all(connections.map(async (it) => (await it.query('SELECT COUNT(*) AS n FROM t'))[0][0].n));
  assert.deepEqual(counts, [2, 1]);
  await Promise.all(connections.map((it) => it.end()));
  await Promise.all(copies.map((copy) => copy.close()));
});

test('a connection that has ended refuses statements', async () => {
  const connection = await inia.createConnection();
  await connection.end();
  await assert.rejects(connection.query('SELECT 1'), /closed/);
});
