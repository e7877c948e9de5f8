'use strict';
// Prisma's client (its query compiler is in its package) over the driver `mariadb`: node prisma.js HOST PORT, after
// `prisma generate`. Prints "ok NAME" or "failed NAME" for each check. Prisma's migrations and `db pull` need an engine that
// is fetched from elsewhere: tables.sql has what they would make.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const mariadb = require('mariadb');
const { PrismaMariaDb } = require('@prisma/adapter-mariadb');
const { PrismaClient, Prisma } = require('./client');
const check = require('./check.js');

const [host, port] = process.argv.slice(2);
const server = { host, port: Number(port), user: 'root', allowPublicKeyRetrieval: true };

// A client over the binary protocol, or over the text protocol.
function client(useTextProtocol) {
  const adapter = new PrismaMariaDb({ ...server, database: 'prisma_orm', connectionLimit: 6 }, { database: 'prisma_orm', useTextProtocol });
  return new PrismaClient({ adapter });
}

const rejectsWith = (work, code) => assert.rejects(work, (error) => {
  assert.equal(error.code, code, error);
  return true;
});

const written = {
  tiny: -128, utiny: 255, small: -32768, usmall: 65535, medium: -8388608, umedium: 16777215, int: -2147483648, uint: 2147483647,
  big: -9223372036854775808n, ubig: 9223372036854775807n, flag: true, bit: true, bits: Buffer.from([1, 2, 3, 4, 255]), float: 1.5,
  double: -0.1, decimal: '-12345678901234567890123456789012345.123456789012345678901234567891', char: 'é日',
  varchar: '😀 "quoted" \\', tinytext: '', text: 'a\nb\0c', mediumtext: 'm'.repeat(70000), longtext: 'l', binary: Buffer.from([0, 1, 0, 0]),
  varbinary: Buffer.from([255, 0]), tinyblob: Buffer.alloc(0), blob: Buffer.alloc(60000, 7), mediumblob: Buffer.from('x'), longblob: Buffer.from('é'),
  json: { a: [1, null, 'é', 1.5], b: { c: true } }, date: new Date('2026-03-04T00:00:00Z'), time: new Date('1970-01-01T23:59:58.125Z'),
  datetime: new Date('2026-03-04T05:06:07.891Z'), datetime6: new Date('9999-12-31T23:59:59.999Z'), stamp: new Date('2038-01-19T03:14:07.499Z'),
  year: 2155, role: 'ADMIN',
};

async function values(db, protocol) {
  await check(`${protocol}: values of every type`, async () => {
    const { id } = await db.types.create({ data: written });
    const { id: _, ...read } = await db.types.findUniqueOrThrow({ where: { id } });
    for (const [name, value] of Object.entries(written)) {
      const got = read[name] instanceof Uint8Array ? Buffer.from(read[name]) : Prisma.Decimal.isDecimal(read[name]) ? read[name].toFixed() : read[name];
      assert.deepEqual(got, value, name);
    }
  });
  await check(`${protocol}: NULL in every column`, async () => {
    const { id, ...rest } = await db.types.create({ data: {} });
    assert.ok(Object.values(rest).every((value) => value === null));
    assert.equal(await db.types.count({ where: { id, NOT: { int: null } } }), 0);
    const emptied = await db.types.update({ where: { id }, data: { json: Prisma.JsonNull } });
    assert.equal(emptied.json, null);
    assert.equal(await db.types.count({ where: { id, json: { equals: Prisma.JsonNull } } }), 1);
  });
  await check(`${protocol}: conditions on every type`, async () => {
    for (const name of ['tiny', 'utiny', 'small', 'medium', 'int', 'uint', 'big', 'ubig', 'flag', 'bit', 'double', 'decimal', 'char', 'varchar', 'text',
      'binary', 'varbinary', 'blob', 'date', 'time', 'datetime', 'datetime6', 'stamp', 'year', 'role']) {
      assert.ok(await db.types.count({ where: { [name]: written[name] } }) >= 1, name);
      assert.equal(await db.types.count({ where: { AND: [{ [name]: written[name] }, { NOT: { [name]: written[name] } }] } }), 0, name);
    }
    assert.ok(await db.types.count({ where: { json: { equals: written.json } } }) >= 1);
    assert.ok(await db.types.count({ where: { datetime: { gte: new Date('2026-03-04T05:06:07.891Z'), lt: new Date('2026-03-04T05:06:07.892Z') } } }) >= 1);
  });
  await check(`${protocol}: raw statements`, async () => {
    const [row] = await db.$queryRaw`SELECT ${1} + 1 AS n, ${'é'} AS t, ${new Date('2026-01-02T03:04:05Z')} AS d, ${18446744073709551615n} AS u, ${null} AS z,
      CAST('1.50' AS DECIMAL(10,2)) AS dec_, CAST('{"a": 1}' AS JSON) AS j, TIME '10:11:12' AS ti, 0xFF AS b`;
    assert.deepEqual([Number(row.n), row.t, String(row.u), row.z, row.j], [2, 'é', '18446744073709551615', null, { a: 1 }]);
    assert.equal(row.dec_.toString(), '1.5');
    assert.deepEqual([...row.b], [255]);
    assert.equal(await db.$executeRaw`UPDATE Types SET tiny = ${5} WHERE id = ${0}`, 0);
    assert.equal(await db.$executeRawUnsafe('INSERT INTO Seat (`row`, number) VALUES (?, ?), (?, ?) ON DUPLICATE KEY UPDATE holder = NULL', 90, 1, 90, 2) >= 2, true);
    await rejectsWith(db.$queryRaw`SELECT nothing`, 'P2010');
    await rejectsWith(db.$executeRawUnsafe('SELEC'), 'P2010');
  });
}

async function changes(db) {
  await check('nested writes', async () => {
    const ada = await db.user.create({
      data: {
        email: 'ada@x', name: 'Ada', role: 'ADMIN', profile: { create: { bio: 'first' } },
        posts: {
          create: [
            { title: 'quick brown fox', body: 'jumps over', price: '10.50', meta: { level: 3, tags: ['a', 'b'] },
              tags: { create: [{ name: 'red' }, { name: 'green' }] } },
            { title: 'lazy dog', price: '0.25', tags: { connectOrCreate: { where: { name: 'blue' }, create: { name: 'blue' } } } },
          ],
        },
      },
      include: { posts: { include: { tags: true }, orderBy: { id: 'asc' } }, profile: true },
    });
    assert.deepEqual(ada.posts.map((post) => [post.title, post.tags.map((tag) => tag.name).sort()]), [['quick brown fox', ['green', 'red']], ['lazy dog', ['blue']]]);
    const changed = await db.user.update({
      where: { email: 'ada@x' },
      data: {
        profile: { update: { bio: 'second' } },
        posts: {
          update: { where: { authorId_title: { authorId: ada.id, title: 'lazy dog' } }, data: { views: { increment: 5 }, tags: { connect: { name: 'red' }, disconnect: { name: 'blue' } } } },
          upsert: { where: { authorId_title: { authorId: ada.id, title: 'third' } }, create: { title: 'third' }, update: {} },
        },
      },
      include: { posts: { include: { tags: true }, orderBy: { id: 'desc' } }, profile: true },
    });
    assert.deepEqual([changed.profile.bio, changed.posts.map((post) => [post.title, post.views, post.tags.length])], ['second', [['third', 0, 0], ['lazy dog', 5, 1], ['quick brown fox', 0, 2]]]);
    await db.user.create({ data: { email: 'bob@x', name: 'Bob', boss: { connect: { email: 'ada@x' } } } });
  });
  await check('rows in batches', async () => {
    const bob = await db.user.findUniqueOrThrow({ where: { email: 'bob@x' } });
    const data = [...Array(2500).keys()].map((n) => ({ title: `post ${n}`, authorId: bob.id, views: n, price: `${n % 7}.25`, meta: { n } }));
    assert.equal((await db.post.createMany({ data })).count, 2500);
    assert.equal((await db.post.createMany({ data: [...data.slice(0, 3), { title: 'one more', authorId: bob.id }], skipDuplicates: true })).count, 1);
    assert.equal((await db.post.updateMany({ where: { views: { lt: 10 }, authorId: bob.id }, data: { views: { multiply: 2 }, price: { decrement: '0.05' } } })).count, 11);
    assert.equal((await db.post.deleteMany({ where: { title: { in: ['one more', 'post 2499', 'nothing'] } } })).count, 2);
  });
  await check('upsert', async () => {
    for (const [role, name] of [['USER', 'Cy'], ['ADMIN', 'Cyd']]) {
      const row = await db.user.upsert({ where: { email: 'cy@x' }, create: { email: 'cy@x', name }, update: { name, role } });
      assert.deepEqual([row.name, row.role], [name, role]);
    }
    const seat = { row_number: { row: 1, number: 2 } };
    await db.seat.upsert({ where: seat, create: { row: 1, number: 2 }, update: { holder: 'x' } });
    assert.equal((await db.seat.upsert({ where: seat, create: { row: 1, number: 2 }, update: { holder: 'x' } })).holder, 'x');
    await db.seat.update({ where: seat, data: { number: 3 } });
    assert.equal(await db.seat.findUnique({ where: seat }), null);
  });
  await check('errors', async () => {
    await rejectsWith(db.user.create({ data: { email: 'ada@x' } }), 'P2002');
    await rejectsWith(db.post.create({ data: { title: 'x', authorId: 999 } }), 'P2003');
    await rejectsWith(db.user.delete({ where: { email: 'ada@x' } }), 'P2003');
    await rejectsWith(db.user.update({ where: { id: 999 }, data: { name: 'x' } }), 'P2025');
    await rejectsWith(db.user.findUniqueOrThrow({ where: { id: 999 } }), 'P2025');
    await rejectsWith(db.post.create({ data: { title: 'x'.repeat(101), authorId: 1 } }), 'P2000');
    await rejectsWith(db.types.create({ data: { tiny: 1000 } }), 'P2020');
  });
}

async function queries(db) {
  for (const relationLoadStrategy of ['join', 'query']) {
    await check(`relations by ${relationLoadStrategy}`, async () => {
      const rows = await db.user.findMany({
        relationLoadStrategy, orderBy: { id: 'asc' },
        include: {
          boss: { select: { email: true } }, profile: true, bosses: true,
          posts: { where: { views: { gte: 0 } }, orderBy: [{ views: 'desc' }, { id: 'asc' }], take: 2, skip: 1, include: { tags: { orderBy: { name: 'asc' } } } },
          _count: { select: { posts: { where: { price: { not: null } } } } },
        },
      });
      assert.deepEqual(rows.map((row) => [row.email, row.boss?.email ?? null, row.profile?.bio ?? null, row.bosses.length, row._count.posts,
        row.posts.map((post) => post.title)]), [
        ['ada@x', null, 'second', 1, 2, ['quick brown fox', 'third']],
        ['bob@x', 'ada@x', null, 0, 2499, ['post 2497', 'post 2496']],
        ['cy@x', null, null, 0, 0, []],
      ]);
      const fox = rows[0].posts[0];
      assert.deepEqual([typeof fox.id, fox.price.toFixed(2), fox.meta, fox.made instanceof Date, fox.tags.map((tag) => tag.name)],
        ['bigint', '10.50', { level: 3, tags: ['a', 'b'] }, true, ['green', 'red']]);
    });
  }
  await check('conditions on relations and texts', async () => {
    const emails = async (where) => (await db.user.findMany({ where, orderBy: { id: 'asc' } })).map((row) => row.email[0]).join('');
    assert.equal(await emails({ posts: { some: { tags: { some: { name: 'red' } } } } }), 'a');
    assert.equal(await emails({ posts: { none: {} } }), 'c');
    assert.equal(await emails({ posts: { every: { views: { lt: 6 } } } }), 'ac');
    assert.equal(await emails({ boss: { is: { name: { contains: 'd' } } } }), 'b');
    assert.equal(await emails({ OR: [{ profile: { isNot: null } }, { name: { startsWith: 'cy' } }] }), 'ac');
    assert.equal(await emails({ name: { endsWith: 'B' }, NOT: { email: { contains: 'y@' } } }), 'b');
    assert.equal(await emails({ email: { gt: 'b', notIn: ['bob@x'] } }), 'c');
    assert.equal(await emails({ name: { search: undefined } }), 'abc');
  });
  await check('full text', async () => {
    const found = await db.post.findMany({ where: { title: { search: '+fox -dog' }, body: { search: '+fox -dog' } } });
    assert.deepEqual(found.map((post) => post.title), ['quick brown fox']);
    const ranked = await db.post.findMany({ orderBy: { _relevance: { fields: ['title', 'body'], search: 'lazy dog', sort: 'desc' } }, take: 1 });
    assert.equal(ranked[0].title, 'lazy dog');
  });
  await check('conditions on JSON', async () => {
    const titles = async (meta) => (await db.post.findMany({ where: { meta }, orderBy: { id: 'asc' }, take: 3 })).map((post) => post.title);
    assert.deepEqual(await titles({ path: '$.level', gte: 3 }), ['quick brown fox']);
    assert.deepEqual(await titles({ path: '$.tags', array_contains: 'b' }), ['quick brown fox']);
    assert.deepEqual(await titles({ path: '$.tags[0]', string_starts_with: 'a' }), ['quick brown fox']);
    assert.deepEqual(await titles({ path: '$.n', equals: 77 }), ['post 77']);
    assert.deepEqual(await titles({ equals: Prisma.DbNull }), ['lazy dog', 'third']);
    assert.deepEqual(await titles({ path: '$.n', lt: 2 }), ['post 0', 'post 1']);
  });
  await check('pages, cursors, distinct', async () => {
    const page = await db.post.findMany({ cursor: { id: 100n }, skip: 1, take: 3, orderBy: { id: 'asc' }, select: { id: true } });
    assert.deepEqual(page.map((row) => row.id), [101n, 102n, 103n]);
    const back = await db.post.findMany({ cursor: { id: 100n }, take: -2, orderBy: { id: 'asc' }, select: { id: true } });
    assert.deepEqual(back.map((row) => row.id), [99n, 100n]);
    assert.equal((await db.post.findMany({ distinct: ['authorId'], select: { authorId: true } })).length, 2);
    const sorted = await db.user.findMany({ orderBy: [{ posts: { _count: 'desc' } }, { boss: { email: 'asc' } }, { name: { sort: 'asc', nulls: undefined } }] });
    assert.deepEqual(sorted.map((row) => row.email), ['bob@x', 'ada@x', 'cy@x']);
  });
  await check('aggregates and groups', async () => {
    const all = await db.post.aggregate({ _count: { _all: true, body: true }, _sum: { views: true, price: true }, _avg: { views: true }, _min: { made: true, title: true }, _max: { id: true } });
    assert.deepEqual([all._count, all._sum.views, all._min.made instanceof Date, all._min.title, typeof all._max.id],
      [{ _all: 2502, body: 1 }, 3121301, true, 'lazy dog', 'bigint']);
    assert.equal(typeof all._avg.views, 'number');
    const groups = await db.post.groupBy({ by: ['authorId', 'price'], _count: true, _sum: { views: true }, having: { views: { _avg: { gt: 1247 } } }, orderBy: [{ _sum: { views: 'desc' } }], take: 2, where: { price: { gt: 1 } } });
    assert.equal(groups.length, 2);
    assert.ok(groups[0]._sum.views >= groups[1]._sum.views && groups[0]._count > 300);
  });
  await check('many values in one condition', async () => {
    const ids = [...Array(40000).keys()].map((n) => BigInt(n));
    assert.equal(await db.post.count({ where: { id: { in: ids } } }), 2502);
  });
}

async function transactions(db) {
  await check('transactions: a list, and one that fails', async () => {
    const [, n] = await db.$transaction([db.tag.create({ data: { name: 'listed' } }), db.tag.count()], { isolationLevel: 'Serializable' });
    assert.equal(n, 4);
    await rejectsWith(db.$transaction([db.tag.create({ data: { name: 'lost' } }), db.tag.create({ data: { name: 'listed' } })]), 'P2002');
    assert.equal(await db.tag.count({ where: { name: 'lost' } }), 0);
  });
  await check('transactions: isolation levels', async () => {
    // Rows of others that are seen before they are committed, and after.
    const seen = { ReadUncommitted: [1, 1], ReadCommitted: [0, 1], RepeatableRead: [0, 0] };
    for (const [isolationLevel, [uncommitted, committed]] of Object.entries(seen)) {
      await db.$transaction(async (tx) => {
        const before = await tx.seat.count();
        await db.$transaction(async (other) => {
          await other.seat.create({ data: { row: 50, number: isolationLevel.length } });
          assert.equal(await tx.seat.count(), before + uncommitted, isolationLevel);
        });
        assert.equal(await tx.seat.count(), before + committed, isolationLevel);
      }, { isolationLevel });
    }
    await db.$transaction(async (tx) => {
      await tx.seat.count();
      const write = db.$transaction([db.$executeRaw`SET innodb_lock_wait_timeout = 1`, db.seat.create({ data: { row: 51, number: 1 } })]);
      await assert.rejects(write, /Lock wait timeout/);
    }, { isolationLevel: 'Serializable' });
  });
  await check('transactions: rolled back by an error, and by time', async () => {
    await assert.rejects(db.$transaction(async (tx) => {
      await tx.tag.create({ data: { name: 'thrown' } });
      throw new Error('back');
    }), /back/);
    await rejectsWith(db.$transaction(async (tx) => {
      await tx.tag.create({ data: { name: 'late' } });
      await new Promise((resolve) => setTimeout(resolve, 400));
      await tx.tag.count();
    }, { timeout: 100 }), 'P2028');
    assert.equal(await db.tag.count({ where: { name: { in: ['thrown', 'late'] } } }), 0);
  });
  await check('transactions: many at once', async () => {
    await db.seat.create({ data: { row: 7, number: 7, holder: '0' } });
    const count = (n) => db.$transaction(async (tx) => {
      const [{ holder }] = await tx.$queryRaw`SELECT holder FROM Seat WHERE \`row\` = 7 FOR UPDATE`;
      await tx.seat.update({ where: { row_number: { row: 7, number: 7 } }, data: { holder: String(Number(holder) + 1) } });
      return n;
    }, { maxWait: 20000, timeout: 20000 });
    await Promise.all([...Array(40).keys()].map(count));
    assert.equal((await db.seat.findUnique({ where: { row_number: { row: 7, number: 7 } } })).holder, '40');
  });
  await check('deletes that cascade', async () => {
    await db.post.deleteMany({ where: { author: { email: 'ada@x' } } });
    await db.user.delete({ where: { email: 'ada@x' } });
    assert.deepEqual([await db.profile.count(), await db.user.count({ where: { bossId: { not: null } } })], [0, 0]);
    const [{ n }] = await db.$queryRaw`SELECT COUNT(*) AS n FROM _PostToTag`;
    assert.equal(Number(n), 0);
  });
}

async function main() {
  const admin = await mariadb.createConnection({ ...server, multipleStatements: true });
  await admin.query('DROP DATABASE IF EXISTS prisma_orm; CREATE DATABASE prisma_orm; USE prisma_orm');
  await admin.query(fs.readFileSync('tables.sql', 'utf8'));
  await admin.end();
  const text = client(true);
  await values(text, 'text protocol');
  await text.$disconnect();
  const db = client(false);
  await values(db, 'binary protocol');
  await changes(db);
  await queries(db);
  await transactions(db);
  await db.$disconnect();
}

main();
