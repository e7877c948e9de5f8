'use strict';
// mysql2, mariadb and Knex against a server: node clients.js HOST PORT. Prints "ok NAME" or "failed NAME" for each check.
const assert = require('node:assert/strict');
const check = require('./check.js');
const [host, port] = process.argv.slice(2);
const server = { host, port: Number(port), user: 'root' };

async function mysql2() {
  const mysql = require('mysql2/promise');
  const db = await mysql.createConnection({ ...server, multipleStatements: true, supportBigNumbers: true });
  await db.query('DROP DATABASE IF EXISTS node_clients; CREATE DATABASE node_clients; USE node_clients');
  await check('mysql2: values of every kind, prepared', async () => {
    await db.query('CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20), n DECIMAL(10,2), d DATETIME(3), b BLOB, j JSON, bi BIGINT UNSIGNED)');
    const values = ['é日😀', '1.50', '2026-01-02 03:04:05.678', Buffer.from([0, 255]), '{"a": [1]}', '18446744073709551615'];
    const [done] = await db.execute('INSERT INTO t (v, n, d, b, j, bi) VALUES (?, ?, ?, ?, ?, ?)', values);
    assert.equal(done.insertId, 1);
    for (const run of [(...a) => db.execute(...a), (...a) => db.query(...a)]) {
      const [rows] = await run('SELECT * FROM t WHERE id = ?', [1]);
      const { d, b, j, ...rest } = rows[0];
      assert.deepEqual(rest, { id: 1, v: 'é日😀', n: '1.50', bi: '18446744073709551615' });
      assert.deepEqual([d.getMilliseconds(), [...b], j], [678, [0, 255], { a: [1] }]);
    }
  });
  await check('mysql2: fields', async () => {
    const [, fields] = await db.query('SELECT id, v, n, b, CONCAT(v) c FROM t');
    const described = fields.map((f) => [f.name, f.orgTable, f.columnLength, f.columnType, f.decimals]);
    assert.deepEqual(described, [['id', 't', 11, 3, 0], ['v', 't', 80, 253, 0], ['n', 't', 12, 246, 2], ['b', 't', 65535, 252, 0], ['c', '', 80, 253, 31]]);
  });
  await check('mysql2: several statements and a failing one', async () => {
    const [results] = await db.query('SELECT 1 a; UPDATE t SET v = 1; SELECT 2 b');
    assert.deepEqual([results[0][0].a, results[1].affectedRows, results[2][0].b], [1, 1, 2]);
    await assert.rejects(db.query('SELECT nothing'), { errno: 1054, sqlState: '42S22' });
  });
  await check('mysql2: named parameters, bulk rows, change of user', async () => {
    const [done] = await db.query('INSERT INTO t (v, n) VALUES ?', [[['x', 1], ['y', 2], ['z', 3]]]);
    assert.equal(done.affectedRows, 3);
    await db.changeUser({ user: 'root', database: 'node_clients' });
    const [rows] = await db.query({ sql: 'SELECT COUNT(*) c FROM t WHERE v > :v', namedPlaceholders: true }, { v: 'x' });
    assert.equal(rows[0].c, 2);
  });
  await check('mysql2: a stream', async () => {
    const stream = db.connection.query('WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT * FROM n').stream();
    let rows = 0;
    for await (const row of stream) rows += row.i > 0;
    assert.equal(rows, 900);
  });
  await db.end();
}

async function mariadb() {
  const driver = require('mariadb');
  const pool = driver.createPool({ ...server, database: 'node_clients', connectionLimit: 4, allowPublicKeyRetrieval: true });
  await check('mariadb: a pool', async () => {
    const rows = await Promise.all([...Array(20).keys()].map((n) => pool.query('SELECT ? + 1 n', [n])));
    assert.deepEqual(rows.map((r) => Number(r[0].n)), [...Array(20).keys()].map((n) => n + 1));
  });
  await check('mariadb: batches and transactions', async () => {
    const db = await pool.getConnection();
    await db.query('CREATE TABLE m (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20), d DATE)');
    await db.beginTransaction();
    await db.batch('INSERT INTO m (v, d) VALUES (?, ?)', [['a', '2026-01-01'], ['b', null]]);
    await db.rollback();
    await db.batch('INSERT INTO m (v, d) VALUES (?, ?)', [['c', '2026-01-01'], ['d', null], ['é', null]]);
    const rows = await db.execute('SELECT v FROM m WHERE d IS NULL ORDER BY v');
    assert.deepEqual(rows.map((row) => row.v), ['d', 'é']);
    await db.release();
  });
  await pool.end();
}

async function knex() {
  const knex = require('knex')({ client: 'mysql2', connection: { ...server, database: 'node_clients' } });
  await check('knex: definitions', async () => {
    await knex.schema.createTable('users', (table) => {
      table.increments();
      table.string('name').notNullable().index();
      table.enu('kind', ['a', 'b']).defaultTo('a');
      table.json('more');
      table.timestamps(true, true);
    });
    await knex.schema.createTable('posts', (table) => {
      table.bigIncrements();
      table.integer('user').unsigned().references('users.id').onDelete('CASCADE');
      table.text('body');
    });
    await knex.schema.alterTable('users', (table) => { table.renameColumn('name', 'called'); table.string('mail').unique(); });
    assert.equal(await knex.schema.hasColumn('users', 'called'), true);
    assert.deepEqual(Object.keys(await knex('posts').columnInfo()), ['id', 'user', 'body']);
  });
  await check('knex: queries', async () => {
    const [id] = await knex('users').insert({ called: 'Ada', mail: 'ada@x', more: JSON.stringify({ a: 1 }) });
    await knex('users').insert({ called: 'Ada', mail: 'ada@x' }).onConflict('mail').merge({ kind: 'b' });
    await knex.transaction((trx) => trx('posts').insert([{ user: id, body: 'x' }, { user: id, body: 'y' }]));
    const rows = await knex('users as u').join('posts as p', 'p.user', 'u.id').select('u.called', 'u.kind').count('* as n').groupBy('u.id');
    assert.deepEqual({ ...rows[0] }, { called: 'Ada', kind: 'b', n: 2 });
    await knex('users').where({ id }).del();
    assert.equal((await knex('posts').count('* as n'))[0].n, 0);
  });
  await knex.destroy();
}

mysql2().then(mariadb).then(knex);
