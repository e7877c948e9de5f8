'use strict';
// drizzle-orm and drizzle-kit against a server: node drizzle.js HOST PORT, in a directory of its own. Prints "ok NAME" or
// "failed NAME" for each check; each line that drizzle-kit reads back from the server is one.
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const mysql = require('mysql2/promise');
const orm = require('drizzle-orm');
const core = require('drizzle-orm/mysql-core');
const { drizzle } = require('drizzle-orm/mysql2');
const { migrate } = require('drizzle-orm/mysql2/migrator');
const check = require('./check.js');
const schema = require('./schema.js');

const { and, asc, avg, between, count, countDistinct, desc, eq, exists, gt, inArray, isNull, like, max, ne, not, or, sql, sum } = orm;
const { adults, posts, postsToTags, tags, types, users } = schema;
const [host, port] = process.argv.slice(2);
const server = { host, port: Number(port), user: 'root' };

// Runs drizzle-kit, whose settings are written for each database.
function kit(database, ...command) {
  fs.writeFileSync('drizzle.config.js', `module.exports = ${JSON.stringify({
    dialect: 'mysql', schema: './schema.js', out: `./out-${database}`,
    dbCredentials: { ...server, database },
  })};`);
  return execFileSync('node', ['node_modules/drizzle-kit/bin.cjs', ...command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

async function migrations(admin) {
  fs.rmSync('out-drizzle_orm', { recursive: true, force: true });
  fs.rmSync('out-drizzle_push', { recursive: true, force: true });
  await check('kit: generate, and migrate twice by the library', async () => {
    kit('drizzle_orm', 'generate', '--name', 'first');
    const pool = mysql.createPool({ ...server, database: 'drizzle_orm' });
    const db = drizzle({ client: pool });
    for (const _ of [1, 2]) await migrate(db, { migrationsFolder: 'out-drizzle_orm' });
    const [rows] = await pool.query('SELECT COUNT(*) c FROM __drizzle_migrations');
    assert.equal(rows[0].c, 1);
    await pool.end();
  });
  await check('kit: migrate finds nothing to do', async () => { kit('drizzle_orm', 'migrate'); });
  await check('kit: push, and push again without changes', async () => {
    await admin.query('CREATE DATABASE drizzle_push');
    kit('drizzle_push', 'push', '--force');
    assert.match(kit('drizzle_push', 'push', '--force'), /No changes detected|Changes applied/);
    const tables = async (database) => (await admin.query(
      'SELECT * FROM information_schema.columns WHERE table_schema = ? AND table_name NOT LIKE "\\_%" ORDER BY table_name, ordinal_position',
      [database]))[0].map(({ TABLE_SCHEMA, ...rest }) => rest);
    assert.deepEqual(await tables('drizzle_push'), await tables('drizzle_orm'));
  });
  await check('kit: pull', async () => {
    kit('drizzle_orm', 'pull');
    for (const file of ['schema.ts', 'relations.ts']) {
      for (const line of fs.readFileSync(`out-drizzle_orm/${file}`, 'utf8').split('\n')) {
        if (line.trim()) console.log(`ok pulled ${file}: ${line.trim()}`);
      }
    }
  });
}

// A value for each column, and what is read where that is something else.
const written = {
  tiny: -128, tinyUnsigned: 255, small: -32768, medium: 8388607, int: -2147483648, intUnsigned: 4294967295,
  big: -9007199254740991, bigUnsigned: 18446744073709551615n, flag: false, decimal: '-12345678901234.123456', decimalNumber: 1.25,
  decimalUnsigned: '99999.999', double: 1.7976931348623157e308, doublePrecise: 1.25, real: -0.1, float: 1.5, binary: 'ab\0\0',
  varbinary: 'xyz', char: 'é日', varchar: '😀 ok', kind: 'y', tinytext: '', text: 'a\nb', mediumtext: 'm'.repeat(70000),
  longtext: 'long', level: "hi'gh", json: { a: [1, null, 'é'], b: { c: true } }, date: new Date('2026-03-04T00:00:00Z'),
  dateText: '1000-01-01', datetime: new Date('2026-03-04T05:06:07.891Z'), datetimeText: '9999-12-31 23:59:59.999999',
  time: '-838:59:58.25', year: 2155, stamp: new Date('2038-01-19T03:14:07.499Z'), stampText: '1970-01-02 00:00:01',
};

async function values(db) {
  await check('values of every type, by both protocols', async () => {
    const [{ id }] = await db.insert(types).values(written).$returningId();
    const plain = await db.select().from(types).where(eq(types.id, id));
    const prepared = await db.select().from(types).where(eq(types.id, sql.placeholder('id'))).prepare().execute({ id });
    const { id: _, made, changed, ...read } = plain[0];
    assert.deepEqual(read, written);
    assert.deepEqual(prepared, plain);
    assert.ok(made instanceof Date && changed === null);
  });
  await check('NULL and defaults', async () => {
    const [{ insertId }] = await db.insert(types).values({});
    const [row] = await db.select().from(types).where(eq(types.id, insertId));
    const { tinyUnsigned, flag, decimalUnsigned, varchar, level, dateText, datetimeText, made, id, ...rest } = row;
    assert.deepEqual([tinyUnsigned, flag, decimalUnsigned, varchar, level, dateText],
      [200, true, '1.500', "it's \"quoted\"", 'mid', '2020-02-29']);
    assert.match(datetimeText, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/);
    assert.ok(Object.values(rest).every((value) => value === null));
    await db.update(types).set({ tiny: 1 }).where(eq(types.id, insertId));
    const [changed] = await db.select({ changed: types.changed, is: isNull(types.changed) }).from(types).where(eq(types.id, insertId));
    assert.ok(changed.changed instanceof Date);
  });
  await check('values outside their range', async () => {
    await assert.rejects(db.insert(types).values({ tiny: 128 }), (error) => error.cause.errno === 1264);
    await assert.rejects(db.insert(types).values({ level: 'other' }), (error) => error.cause.errno === 1265);
    await assert.rejects(db.insert(types).values({ char: 'four' }), (error) => error.cause.errno === 1406);
    await assert.rejects(db.insert(types).values({ json: sql`'{'` }), (error) => error.cause.errno === 3140);
  });
}

async function changes(db) {
  await check('rows in batches, and their keys', async () => {
    const keys = await db.insert(users).values([
      { firstName: 'Ada', lastName: 'Lovelace', mail: 'ada@x', age: 36 },
      { firstName: 'Alan', lastName: 'Turing', mail: 'alan@x', age: 41, invitedBy: 1 },
      { firstName: 'Kid', lastName: 'Young', mail: 'kid@x', age: 12, invitedBy: 1 },
    ]).$returningId();
    assert.deepEqual(keys, [{ id: 1 }, { id: 2 }, { id: 3 }]);
    const many = [...Array(1500).keys()].map((n) => ({ author: 1 + (n % 3), title: `title ${n}`, price: `${n}.50`, more: { n, odd: n % 2 === 1 } }));
    const [done] = await db.insert(posts).values(many);
    assert.deepEqual([done.affectedRows, done.insertId], [1500, 1]);
    await db.insert(tags).values([{ id: 'new' }, { id: 'old' }]);
    await db.insert(postsToTags).values([{ post: 1, tag: 'new' }, { post: 1, tag: 'old' }, { post: 2, tag: 'old' }]);
  });
  await check('INSERT ... ON DUPLICATE KEY UPDATE, IGNORE and SELECT', async () => {
    const [updated] = await db.insert(users).values({ id: 1, firstName: 'x', lastName: 'y', mail: 'ada@x', age: 1 })
      .onDuplicateKeyUpdate({ set: { age: sql`${users.age} + values(${users.age})`, lastName: 'King' } });
    assert.equal(updated.affectedRows, 2);
    const [ignored] = await db.insert(tags).ignore().values([{ id: 'new' }, { id: 'other' }]);
    assert.equal(ignored.affectedRows, 1);
    await db.insert(tags).select(db.select({ id: sql`concat('of ', ${users.firstName})`.as('id') }).from(users).where(gt(users.age, 40)));
    assert.deepEqual((await db.select().from(tags).orderBy(tags.id)).map((row) => row.id), ['new', 'of Alan', 'old', 'other']);
  });
  await check('UPDATE and DELETE with ORDER BY and LIMIT', async () => {
    const [updated] = await db.update(posts).set({ title: sql`upper(${posts.title})` }).where(eq(posts.author, 1)).orderBy(desc(posts.id)).limit(2);
    assert.equal(updated.affectedRows, 2);
    const [removed] = await db.delete(posts).where(eq(posts.author, 3)).orderBy(asc(posts.id)).limit(100);
    assert.equal(removed.affectedRows, 100);
  });
  await check('errors of constraints', async () => {
    const cases = [
      [() => db.insert(users).values({ firstName: 'a', lastName: 'b', mail: 'alan@x' }), 1062, '23000'],
      [() => db.insert(posts).values({ author: 99, title: 'x' }), 1452, '23000'],
      [() => db.insert(users).values({ firstName: 'a', lastName: 'b', age: -1 }), 3819, 'HY000'],
      [() => db.insert(users).values({ firstName: null, lastName: 'b' }), 1048, '23000'],
      [() => db.delete(tags).where(eq(tags.id, 'old')), 1451, '23000'],
      [() => db.execute(sql`select nothing from ${users}`), 1054, '42S22'],
      [() => db.execute(sql`selec 1`), 1064, '42000'],
    ];
    for (const [work, errno, sqlState] of cases) {
      await assert.rejects(work(), (error) => {
        assert.deepEqual([error.cause.errno, error.cause.sqlState], [errno, sqlState]);
        return true;
      });
    }
  });
}

async function queries(db) {
  await check('conditions', async () => {
    const ids = async (where) => (await db.select({ id: users.id }).from(users).where(where).orderBy(users.id)).map((row) => row.id);
    assert.deepEqual(await ids(and(like(users.firstName, 'A%'), ne(users.id, 7))), [1, 2]);
    assert.deepEqual(await ids(or(between(users.age, 10, 13), inArray(users.mail, ['alan@x', 'nobody']))), [2, 3]);
    assert.deepEqual(await ids(not(isNull(users.invitedBy))), [2, 3]);
    const own = db.select().from(posts).where(and(eq(posts.author, users.id), eq(posts.title, 'title 1')));
    assert.deepEqual(await ids(exists(own)), [2]);
    assert.deepEqual(await ids(sql`json_extract(${JSON.stringify([1, 2])}, '$[0]') = ${users.id}`), [1]);
  });
  await check('joins, groups, HAVING, aggregates', async () => {
    const rows = await db.select({
      name: users.fullName, posts: count(posts.id), prices: sum(posts.price), average: avg(posts.price), last: max(posts.id),
      authors: countDistinct(posts.author),
    }).from(users).leftJoin(posts, eq(posts.author, users.id)).groupBy(users.id).having(gt(count(posts.id), 450)).orderBy(desc(users.id));
    assert.deepEqual(rows, [
      { name: 'Alan Turing', posts: 500, prices: '375000.00', average: '750.000000', last: 1499, authors: 1 },
      { name: 'Ada King', posts: 500, prices: '374500.00', average: '749.000000', last: 1498, authors: 1 },
    ]);
    const [first] = await db.select().from(posts).innerJoin(users, eq(users.id, posts.author)).orderBy(posts.id).limit(1).offset(1);
    assert.deepEqual([first.posts.id, first.users.mail, first.posts.more], [2, 'alan@x', { n: 1, odd: true }]);
  });
  await check('common table expressions, derived tables, aliases', async () => {
    const busy = db.$with('busy').as(db.select({ author: posts.author, n: count().as('n') }).from(posts).groupBy(posts.author));
    const rows = await db.with(busy).select({ mail: users.mail, n: busy.n }).from(busy).innerJoin(users, eq(users.id, busy.author)).orderBy(users.id);
    assert.deepEqual(rows, [{ mail: 'ada@x', n: 500 }, { mail: 'alan@x', n: 500 }, { mail: 'kid@x', n: 400 }]);
    const inviter = core.alias(users, 'inviter');
    const pairs = await db.select({ own: users.firstName, by: inviter.firstName }).from(users).innerJoin(inviter, eq(users.invitedBy, inviter.id)).orderBy(users.id);
    assert.deepEqual(pairs, [{ own: 'Alan', by: 'Ada' }, { own: 'Kid', by: 'Ada' }]);
    const inner = db.select({ id: posts.id, rank: sql`row_number() over (partition by ${posts.author} order by ${posts.id})`.mapWith(Number).as('rank') }).from(posts).as('ranked');
    assert.deepEqual(await db.select().from(inner).where(eq(inner.rank, 2)).orderBy(inner.id), [{ id: 4, rank: 2 }, { id: 5, rank: 2 }, { id: 306, rank: 2 }]);
  });
  await check('UNION, INTERSECT, EXCEPT', async () => {
    const of = (n) => db.select({ id: users.id }).from(users).where(eq(users.id, n));
    assert.deepEqual(await core.union(of(1), of(2), of(1)).orderBy(sql`id`), [{ id: 1 }, { id: 2 }]);
    assert.deepEqual((await core.unionAll(of(1), of(1))).length, 2);
    assert.deepEqual(await core.intersect(of(1), of(1)), [{ id: 1 }]);
    assert.deepEqual(await core.except(of(1), of(2)), [{ id: 1 }]);
  });
  await check('lateral joins and index hints', async () => {
    const last = db.select({ title: posts.title }).from(posts).where(eq(posts.author, users.id)).orderBy(desc(posts.id)).limit(1).as('last');
    const rows = await db.select({ id: users.id, title: last.title }).from(users).leftJoinLateral(last, sql`true`).orderBy(users.id);
    assert.deepEqual(rows.map((row) => row.title), ['TITLE 1497', 'title 1498', 'title 1499']);
    const hinted = await db.select({ id: users.id }).from(users, { useIndex: 'name_index' }).where(eq(users.lastName, 'Turing'));
    assert.deepEqual(hinted, [{ id: 2 }]);
  });
  await check('views and generated columns', async () => {
    assert.deepEqual(await db.select().from(adults).orderBy(adults.id), [{ id: 1, name: 'Ada King' }, { id: 2, name: 'Alan Turing' }]);
  });
  await check('rows as relations', async () => {
    const rows = await db.query.users.findMany({
      columns: { id: true, mail: true }, orderBy: asc(users.id), extras: { loud: sql`upper(${users.firstName})`.as('loud') },
      with: {
        inviter: { columns: { firstName: true } },
        posts: { columns: { id: true, price: true, more: true }, orderBy: asc(posts.id), limit: 2, with: { tags: { with: { tag: true } } } },
      },
    });
    assert.deepEqual(rows[0], {
      id: 1, mail: 'ada@x', loud: 'ADA', inviter: null,
      posts: [
        { id: 1, price: '0.5', more: { n: 0, odd: false }, tags: [{ post: 1, tag: { id: 'new' } }, { post: 1, tag: { id: 'old' } }] },
        { id: 4, price: '3.5', more: { n: 3, odd: true }, tags: [] },
      ],
    });
    assert.deepEqual(rows[2].inviter, { firstName: 'Ada' });
    const one = await db.query.posts.findFirst({ where: (own, { eq: is }) => is(own.id, 2), with: { by: true } });
    assert.deepEqual([one.by.fullName, one.made instanceof Date], ['Alan Turing', true]);
    assert.equal(await db.query.posts.findFirst({ where: eq(posts.id, 100000) }), undefined);
  });
  await check('$count, distinct, prepared relations', async () => {
    assert.equal(await db.$count(posts, eq(posts.author, 3)), 400);
    assert.equal((await db.selectDistinct({ author: posts.author }).from(posts)).length, 3);
    const prepared = db.query.users.findFirst({ where: eq(users.id, sql.placeholder('id')), with: { posts: { limit: sql.placeholder('n') } } }).prepare();
    for (const n of [1, 3]) assert.equal((await prepared.execute({ id: 2, n })).posts.length, n);
  });
}

async function transactions(db, pool) {
  await check('transactions: levels, savepoints, rollbacks', async () => {
    for (const isolationLevel of ['read uncommitted', 'read committed', 'repeatable read', 'serializable']) {
      await db.transaction(async (tx) => {
        const [[row]] = await tx.execute(sql`select trx_isolation_level l from information_schema.innodb_trx where trx_mysql_thread_id = connection_id()`);
        const [[session]] = await tx.execute(sql`select @@transaction_isolation l`);
        assert.ok(session.l && (!row || row.l === isolationLevel.toUpperCase()));
        await tx.insert(tags).values({ id: isolationLevel });
        await tx.transaction(async (inner) => {
          await inner.insert(tags).values({ id: 'lost' });
          inner.rollback();
        }).catch((error) => assert.equal(error.constructor.name, 'TransactionRollbackError'));
      }, isolationLevel === 'repeatable read' ? { isolationLevel, withConsistentSnapshot: true } : { isolationLevel, accessMode: 'read write' });
    }
    assert.equal(await db.$count(tags, eq(tags.id, 'lost')), 0);
    assert.equal(await db.$count(tags, like(tags.id, '%e%read%')), 1);
    await assert.rejects(db.transaction((tx) => tx.insert(tags).values({ id: 'no' }), { accessMode: 'read only' }), (error) => error.cause.errno === 1792);
  });
  await check('transactions: locks, NOWAIT, SKIP LOCKED', async () => {
    await db.transaction(async (tx) => {
      await tx.select().from(users).where(eq(users.id, 1)).for('update');
      await db.transaction(async (other) => {
        await assert.rejects(other.select().from(users).where(eq(users.id, 1)).for('share', { noWait: true }), (error) => error.cause.errno === 3572);
        const free = await other.select({ id: users.id }).from(users).orderBy(users.id).for('update', { skipLocked: true });
        assert.deepEqual(free, [{ id: 2 }, { id: 3 }]);
      });
    });
  });
  await check('transactions: what others see', async () => {
    await db.transaction(async (tx) => {
      const before = await tx.$count(tags);
      await db.insert(tags).values({ id: 'meanwhile' });
      assert.equal(await tx.$count(tags), before);
    }, { isolationLevel: 'repeatable read' });
    await db.transaction(async (tx) => {
      const before = await tx.$count(tags);
      await db.delete(tags).where(eq(tags.id, 'meanwhile'));
      assert.equal(await tx.$count(tags), before - 1);
    }, { isolationLevel: 'read committed' });
  });
  await check('a pool under load', async () => {
    const work = [...Array(60).keys()].map((n) => db.transaction(async (tx) => {
      await tx.update(users).set({ age: sql`${users.age} + 1` }).where(eq(users.id, 3));
      return (await tx.select({ n: sql`${n} + 0`.mapWith(Number) }).from(users).where(eq(users.id, 3)))[0].n;
    }));
    assert.deepEqual(await Promise.all(work), [...Array(60).keys()]);
    assert.equal((await db.select({ age: users.age }).from(users).where(eq(users.id, 3)))[0].age, 72);
  });
  await check('time zones of a session', async () => {
    const connection = await pool.getConnection();
    const own = drizzle({ client: connection, schema, mode: 'default' });
    await own.execute(sql`set time_zone = '+05:30'`);
    const [{ id }] = await own.insert(types).values({ stampText: '2026-01-01 05:30:00', datetimeText: '2026-01-01 05:30:00' }).$returningId();
    await own.execute(sql`set time_zone = '+00:00'`);
    const [row] = await own.select({ stamp: types.stampText, datetime: types.datetimeText }).from(types).where(eq(types.id, id));
    assert.deepEqual(row, { stamp: '2026-01-01 00:00:00', datetime: '2026-01-01 05:30:00.000000' });
    connection.release();
  });
}

async function main() {
  const admin = await mysql.createConnection({ ...server, multipleStatements: true });
  await admin.query('DROP DATABASE IF EXISTS drizzle_orm; DROP DATABASE IF EXISTS drizzle_push; CREATE DATABASE drizzle_orm');
  await migrations(admin);
  await admin.end();
  const pool = mysql.createPool({ ...server, database: 'drizzle_orm', connectionLimit: 8, timezone: 'Z', supportBigNumbers: true });
  const db = drizzle({ client: pool, schema, mode: 'default' });
  await values(db);
  await changes(db);
  await queries(db);
  await transactions(db, pool);
  const planetscale = drizzle({ client: pool, schema, mode: 'planetscale' });
  await check('rows as relations without LATERAL', async () => {
    const rows = await planetscale.query.users.findMany({ with: { posts: { limit: 3, orderBy: asc(posts.id), with: { by: true } } }, orderBy: asc(users.id) });
    assert.deepEqual(rows.map((row) => row.posts.map((post) => post.by.id)), [[1, 1, 1], [2, 2, 2], [3, 3, 3]]);
  });
  await pool.end();
}

main();
