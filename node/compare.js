'use strict';

// Measures the package beside better-sqlite3 and DuckDB, where they are installed: in memory, one
// call after another, interleaved rounds, medians.
//
//     node compare.js [ROUNDS]
//
// Each figure is microseconds for one operation: a SELECT of a row by its key, an INSERT of a row in
// a transaction of a thousand, and a row of a scan as an object. `npm run build` comes before.

const inia = require('.');

const ROWS = 20_000;
const CALLS = 2_000;
const INSERTS = 1_000;
const TABLE = 'CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR(40), n BIGINT, price DOUBLE)';
const SELECT = 'SELECT name, n FROM t WHERE id = ?';
const INSERT = 'INSERT INTO t VALUES (?, ?, ?, ?)';
const SCAN = `SELECT id, name, n, price FROM t WHERE id < ${ROWS}`;

/** A package that may not be installed. */
function optional(name) {
  try {
    return require(name);
  } catch {
    return null;
  }
}

async function iniaTarget() {
  const connection = await inia.createConnection({ bufferPoolSize: 256 << 20 });
  return {
    name: 'inia',
    run: (sql) => connection.query(sql),
    insert: (row) => connection.execute(INSERT, row),
    select: (id) => connection.execute(SELECT, [id]),
    scan: async () => (await connection.query(SCAN))[0].length,
  };
}

async function sqliteTarget() {
  const Sqlite = optional('better-sqlite3');
  if (!Sqlite) return null;
  const database = new Sqlite(':memory:');
  const statements = new Map();
  const prepared = (sql) => {
    if (!statements.has(sql)) statements.set(sql, database.prepare(sql));
    return statements.get(sql);
  };
  return {
    name: 'better-sqlite3',
    run: async (sql) => database.exec(sql),
    insert: async (row) => prepared(INSERT).run(row),
    select: async (id) => prepared(SELECT).get(id),
    scan: async () => prepared(SCAN).all().length,
  };
}

async function duckdbTarget() {
  const duckdb = optional('@duckdb/node-api');
  if (!duckdb) return null;
  const connection = await (await duckdb.DuckDBInstance.create(':memory:')).connect();
  return {
    name: 'duckdb',
    run: (sql) => connection.run(sql),
    insert: (row) => connection.run(INSERT, row),
    select: (id) => connection.runAndReadAll(SELECT, [id]),
    scan: async () => (await connection.runAndReadAll(SCAN)).getRowObjects().length,
  };
}

const row = (n) => [n, `name ${n}`, n * 7, n / 3];

const WORK = {
  'select by key': async (target) => {
    for (let n = 0; n < CALLS; n++) await target.select((n * 7919) % ROWS);
    return CALLS;
  },
  insert: async (target) => {
    await target.run('BEGIN');
    for (let n = 0; n < INSERTS; n++) await target.insert(row(target.next++));
    await target.run('COMMIT');
    return INSERTS;
  },
  'scan, a row': (target) => target.scan(),
};

async function fill(target) {
  await target.run(TABLE);
  await target.run('BEGIN');
  for (let n = 0; n < ROWS; n++) await target.insert(row(n));
  await target.run('COMMIT');
  target.next = ROWS;
}

function median(figures) {
  return figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)];
}

async function main() {
  const rounds = Number(process.argv[2] ?? 5);
  const made = [await iniaTarget(), await sqliteTarget(), await duckdbTarget()];
  const targets = made.filter((target) => target !== null);
  for (const target of targets) await fill(target);
  const figures = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, work] of Object.entries(WORK)) {
      for (const target of targets) {
        const began = process.hrtime.bigint();
        const count = await work(target);
        const took = Number(process.hrtime.bigint() - began) / 1000 / count;
        ((figures[name] ??= {})[target.name] ??= []).push(took);
      }
    }
  }
  const line = (head, cells) => console.log(head.padEnd(16) + cells.map((cell) => cell.padStart(16)).join(''));
  line('microseconds', targets.map((target) => target.name));
  for (const name of Object.keys(WORK)) line(name, targets.map((target) => median(figures[name][target.name]).toFixed(2)));
  process.exit();
}

main();
