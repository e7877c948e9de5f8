'use strict';
// Sequelize and TypeORM against a server: node orms.js HOST PORT. Prints "ok NAME" or "failed NAME" for each check.
const assert = require('node:assert/strict');
const mysql = require('mysql2/promise');
const check = require('./check.js');
const [host, port] = process.argv.slice(2);
const server = { host, port: Number(port), user: 'root' };

async function sequelize() {
  const { DataTypes, Op, Sequelize, Transaction, UniqueConstraintError, ForeignKeyConstraintError, ValidationError } = require('sequelize');
  const db = new Sequelize('orm_sequelize', 'root', '', { ...server, username: 'root', dialect: 'mysql', logging: false, pool: { max: 6 } });
  const User = db.define('User', {
    name: { type: DataTypes.STRING(50), allowNull: false },
    mail: { type: DataTypes.STRING, unique: true, validate: { isEmail: true } },
    kind: { type: DataTypes.ENUM('a', 'b'), defaultValue: 'a' },
    big: DataTypes.BIGINT.UNSIGNED, money: DataTypes.DECIMAL(20, 4), real: DataTypes.DOUBLE, flag: DataTypes.BOOLEAN, more: DataTypes.JSON,
    born: DataTypes.DATEONLY, at: DataTypes.TIME, seen: DataTypes.DATE(6), picture: DataTypes.BLOB, key: DataTypes.UUID, place: DataTypes.GEOMETRY('POINT'),
  }, { paranoid: true, version: true, indexes: [{ fields: ['name', { name: 'mail', length: 10 }] }] });
  const Post = db.define('Post', { title: DataTypes.STRING(100), views: { type: DataTypes.INTEGER.UNSIGNED, defaultValue: 0 } });
  const Tag = db.define('Tag', { id: { type: DataTypes.STRING(20), primaryKey: true } }, { timestamps: false });
  User.hasMany(Post, { as: 'posts', onDelete: 'CASCADE', foreignKey: { allowNull: false } });
  Post.belongsTo(User);
  Post.belongsToMany(Tag, { through: 'PostTags' });
  Tag.belongsToMany(Post, { through: 'PostTags' });

  await check('sequelize: sync, and alter without changes', async () => {
    await db.sync({ force: true });
    await db.sync({ alter: true });
    const described = await db.getQueryInterface().describeTable('Users');
    for (const [name, column] of Object.entries(described)) console.log(`ok sequelize: column ${name} ${JSON.stringify(column)}`);
    const indexes = (await db.getQueryInterface().showIndex('Users')).map((index) => [index.name, index.unique, index.fields.map((field) => field.attribute)]);
    assert.deepEqual(indexes.find(([name]) => name === 'users_name_mail'), ['users_name_mail', false, ['name', 'mail']]);
    const keys = await db.getQueryInterface().getForeignKeyReferencesForTable('PostTags');
    assert.deepEqual(keys.map((key) => [key.columnName, key.referencedTableName]).sort(), [['PostId', 'Posts'], ['TagId', 'Tags']]);
  });
  await check('sequelize: values of every type', async () => {
    const values = { name: 'Ada é😀', mail: 'ada@x.org', kind: 'b', big: '18446744073709551615', money: '-1234567890123456.7891', real: 0.1, flag: true,
      more: { a: [1, 'é', null] }, born: '1815-12-10', at: '23:59:58', seen: new Date('2026-01-02T03:04:05.678Z'), picture: Buffer.from([0, 255]),
      key: 'b731678f-636f-4135-bc6f-19440c13bd19', place: { type: 'Point', coordinates: [1.5, -2] } };
    const { id } = await User.create(values);
    const read = (await User.findByPk(id)).get({ plain: true });
    for (const [name, value] of Object.entries(values)) assert.deepEqual(read[name], value, name);
    assert.deepEqual([read.version, read.deletedAt, read.createdAt instanceof Date], [0, null, true]);
  });
  await check('sequelize: changes', async () => {
    const users = await User.bulkCreate([{ name: 'Bob', mail: 'bob@x.org' }, { name: 'Cy', mail: 'cy@x.org' }]);
    assert.ok(users[1].id > users[0].id);
    await User.bulkCreate([{ name: 'Bobby', mail: 'bob@x.org' }], { updateOnDuplicate: ['name'] });
    const bob = await User.findOne({ where: { mail: 'bob@x.org' } });
    assert.equal(bob.name, 'Bobby');
    await bob.update({ kind: 'b' });
    assert.equal(bob.version, 1);
    const [cy, made] = await User.findOrCreate({ where: { mail: 'cy@x.org' }, defaults: { name: 'no' } });
    assert.equal(made, false);
    await cy.destroy();
    assert.deepEqual([await User.count(), await User.count({ paranoid: false })], [2, 3]);
    await cy.restore();
    await User.upsert({ name: 'Cyd', mail: 'cy@x.org' });
    assert.equal((await cy.reload()).name, 'Cyd');
    const posts = await Post.bulkCreate([...Array(300).keys()].map((n) => ({ title: `post ${n}`, UserId: 1 + (n % 2), views: n })));
    assert.equal(posts.length, 300);
    const tags = await Tag.bulkCreate([{ id: 'new' }, { id: 'old' }]);
    const first = await Post.findOne({ order: [['id', 'ASC']] });
    await first.setTags(tags);
    await first.increment('views', { by: 7 });
    assert.equal((await first.reload({ include: Tag })).views, 7);
    assert.equal(first.Tags.length, 2);
    assert.deepEqual(await Post.update({ views: db.literal('views + 1') }, { where: { views: { [Op.lt]: 10 } } }), [10]);
  });
  await check('sequelize: queries', async () => {
    const users = await User.findAll({
      include: [{ model: Post, as: 'posts', where: { views: { [Op.gte]: 290 } }, required: false, separate: false, include: [Tag] }],
      order: [['id', 'ASC'], ['posts', 'views', 'DESC']],
    });
    assert.deepEqual(users.map((user) => [user.name.slice(0, 3), user.posts.length, user.posts[0]?.views]), [['Ada', 5, 298], ['Bob', 5, 299], ['Cyd', 0, undefined]]);
    const page = await Post.findAndCountAll({ include: [{ model: User, required: true }], limit: 3, offset: 2, order: [['id', 'ASC']], distinct: true });
    assert.deepEqual([page.count, page.rows.map((row) => row.id)], [300, [3, 4, 5]]);
    const sums = await Post.findAll({ attributes: ['UserId', [db.fn('SUM', db.col('views')), 'views'], [db.fn('COUNT', '*'), 'n']], group: ['UserId'], having: db.literal('n > 10'), raw: true, order: ['UserId'] });
    assert.deepEqual(sums, [{ UserId: 1, views: '22362', n: 150 }, { UserId: 2, views: '22505', n: 150 }]);
    assert.equal(await User.count({ where: db.literal(`JSON_EXTRACT(more, '$.a[1]') = 'é'`) }), 1);
    assert.equal(await User.count({ where: { [Op.or]: [{ name: { [Op.substring]: 'ob' } }, { name: { [Op.regexp]: '^C' } }], kind: { [Op.in]: ['a', 'b'] } } }), 2);
    const [rows] = await db.query('SELECT :a + 1 AS n', { replacements: { a: 1 } });
    assert.equal(rows[0].n, 2);
    const bound = await db.query('SELECT $1 + 1 AS n', { bind: [4], type: Sequelize.QueryTypes.SELECT });
    assert.equal(bound[0].n, 5);
  });
  await check('sequelize: errors', async () => {
    await assert.rejects(User.create({ name: 'x', mail: 'ada@x.org' }), (error) => error instanceof UniqueConstraintError && error.errors[0].path === 'mail');
    await assert.rejects(Post.create({ title: 'x', UserId: 99 }), (error) => error instanceof ForeignKeyConstraintError && error.fields[0] === 'UserId');
    await assert.rejects(User.create({ name: null }), ValidationError);
    await assert.rejects(db.query('SELECT nothing'), (error) => error.parent.errno === 1054);
  });
  await check('sequelize: transactions', async () => {
    for (const isolationLevel of Object.values(Transaction.ISOLATION_LEVELS)) {
      await assert.rejects(db.transaction({ isolationLevel }, async (transaction) => {
        await Tag.create({ id: isolationLevel.slice(0, 20) }, { transaction });
        const inner = await db.transaction({ transaction });
        await Tag.create({ id: 'inner' }, { transaction: inner });
        await inner.rollback();
        assert.equal(await Tag.count({ transaction, where: { id: 'inner' } }), 0);
        throw new Error('back');
      }), /back/);
    }
    assert.equal(await Tag.count(), 2);
    await Promise.all([...Array(30).keys()].map(() => db.transaction(async (transaction) => {
      const post = await Post.findByPk(1, { transaction, lock: transaction.LOCK.UPDATE });
      await post.update({ views: post.views + 1 }, { transaction });
    })));
    assert.equal((await Post.findByPk(1)).views, 38);
  });
  await db.connectionManager.close();
}

async function typeorm() {
  const { DataSource, EntitySchema, In, LessThan, Like, MoreThan, QueryFailedError } = require('typeorm');
  const column = (type, more = {}) => ({ type, nullable: true, ...more });
  const User = new EntitySchema({
    name: 'User', tableName: 'user',
    columns: {
      id: { type: 'int', primary: true, generated: 'increment' }, name: { type: 'varchar', length: 50 },
      mail: { type: 'varchar', unique: true }, kind: { type: 'enum', enum: ['a', 'b'], default: 'a' },
      big: column('bigint', { unsigned: true }), money: column('decimal', { precision: 20, scale: 4 }), real: column('double'), small: column('tinyint', { default: -5 }),
      flag: column('boolean', { default: true }), more: column('json'), list: column('simple-array'), born: column('date'), at: column('time', { precision: 3 }),
      seen: column('datetime', { precision: 6 }), stamp: column('timestamp', { precision: 3, default: () => 'CURRENT_TIMESTAMP(3)' }), picture: column('varbinary', { length: 16 }),
      text: column('longtext', { charset: 'latin1', collation: 'latin1_german1_ci' }), roles: column('set', { enum: ['x', 'y'] }), year: column('year'), place: column('point'),
      length: column('int', { generatedType: 'STORED', asExpression: 'char_length(name)' }),
      made: { type: 'datetime', createDate: true }, changed: { type: 'datetime', updateDate: true }, gone: { type: 'datetime', deleteDate: true, nullable: true },
      version: { type: 'int', version: true },
    },
    relations: { posts: { type: 'one-to-many', target: 'Post', inverseSide: 'author', cascade: true } },
    indices: [{ columns: ['name', 'kind'] }],
  });
  const Post = new EntitySchema({
    name: 'Post', tableName: 'post',
    columns: { id: { type: 'bigint', primary: true, generated: 'increment' }, title: { type: 'varchar', comment: "it's a title" }, views: { type: 'int', unsigned: true, default: 0 } },
    relations: {
      author: { type: 'many-to-one', target: 'User', inverseSide: 'posts', onDelete: 'CASCADE', nullable: false },
      tags: { type: 'many-to-many', target: 'Tag', joinTable: true, cascade: true },
    },
    indices: [{ columns: ['title'], fulltext: true }],
  });
  const Tag = new EntitySchema({ name: 'Tag', tableName: 'tag', columns: { id: { type: 'varchar', length: 36, primary: true, generated: 'uuid' }, name: { type: 'varchar', unique: true } } });
  const source = () => new DataSource({ type: 'mysql', ...server, username: 'root', database: 'orm_typeorm', entities: [User, Post, Tag], poolSize: 6, timezone: 'Z', supportBigNumbers: true, bigNumberStrings: true });

  let db;
  await check('typeorm: the schema, and no change of it when it is read back', async () => {
    db = await source().initialize();
    await db.synchronize();
    const { upQueries } = await db.driver.createSchemaBuilder().log();
    upQueries.forEach(({ query }) => console.log(`ok typeorm: still to do: ${query}`));
    const runner = db.createQueryRunner();
    for (const table of await runner.getTables(['user', 'post', 'tag', 'post_tags_tag'])) {
      for (const { '@instanceof': _, ...one } of table.columns) console.log(`ok typeorm: ${table.name} ${JSON.stringify(one)}`);
      for (const { '@instanceof': _, ...one } of [...table.indices, ...table.foreignKeys, ...table.uniques]) {
        console.log(`ok typeorm: ${table.name} ${JSON.stringify(one)}`);
      }
    }
    await runner.release();
  });
  await check('typeorm: values of every type', async () => {
    const values = { name: 'Ada é', mail: 'ada@x', kind: 'b', big: '18446744073709551615', money: '1234567890123456.7891', real: 0.1, small: -128, flag: false, more: { a: [1, null] },
      list: ['x', 'y'], born: '1815-12-10', at: '23:59:58.125', seen: new Date('2026-01-02T03:04:05.678Z'), stamp: new Date('2026-01-02T03:04:05.678Z'), picture: Buffer.from([0, 255]),
      text: 'größe', roles: ['x', 'y'], year: 2026, place: 'POINT(1.5 -2)' };
    const { id } = await db.getRepository(User).save({ ...values });
    const read = await db.getRepository(User).findOneByOrFail({ id });
    for (const [name, value] of Object.entries(values)) {
      const got = typeof value === 'boolean' ? Boolean(read[name]) : read[name];
      assert.deepEqual(got, value, name);
    }
    assert.deepEqual([read.length, read.version, read.gone], [5, 1, null]);
  });
  await check('typeorm: changes', async () => {
    const users = db.getRepository(User);
    const bob = await users.save({ name: 'Bob', mail: 'bob@x', posts: [...Array(200).keys()].map((n) => ({ title: `word${n} common`, views: n, tags: n ? [] : [{ name: 'new' }, { name: 'old' }] })) });
    assert.equal(bob.posts[199].id > bob.posts[0].id || bob.posts.length === 200, true);
    await users.upsert([{ name: 'Bobby', mail: 'bob@x' }, { name: 'Cy', mail: 'cy@x' }], ['mail']);
    assert.equal((await users.findOneBy({ mail: 'bob@x' })).name, 'Bobby');
    await users.increment({ mail: 'cy@x' }, 'small', 3);
    assert.equal((await users.findOneBy({ mail: 'cy@x' })).small, -2);
    await users.softDelete({ mail: 'cy@x' });
    assert.deepEqual([await users.count(), await users.count({ withDeleted: true })], [2, 3]);
    await users.restore({ mail: 'cy@x' });
    const done = await db.createQueryBuilder().update(Post).set({ views: () => 'views * 2' }).where({ views: LessThan(10) }).execute();
    assert.equal(done.affected, 10);
    await db.createQueryBuilder().insert().into(Tag).values([{ id: 'x', name: 'new' }]).orIgnore().execute();
    assert.equal(await db.getRepository(Tag).count(), 2);
  });
  await check('typeorm: queries', async () => {
    const [user] = await db.getRepository(User).find({ where: { posts: { tags: { name: In(['new']) } } }, relations: { posts: { tags: true } }, order: { posts: { tags: { name: 'ASC' } } } });
    assert.deepEqual([user.name, user.posts.length, user.posts[0].tags.map((tag) => tag.name)], ['Bobby', 1, ['new']]);
    const [rows, count] = await db.getRepository(Post).findAndCount({ where: { title: Like('%common'), views: MoreThan(20), author: { mail: 'bob@x' } }, relations: { author: true }, order: { views: 'DESC' }, skip: 2, take: 2 });
    assert.deepEqual([count, rows.map((row) => row.views), rows[0].author.mail], [179, [197, 196], 'bob@x']);
    const sums = await db.createQueryBuilder(Post, 'p').select('p.authorId', 'author').addSelect('SUM(p.views)', 'sum').addSelect('COUNT(*)', 'n').groupBy('p.authorId').having('COUNT(*) > :n', { n: 5 }).getRawMany();
    assert.deepEqual(sums.map((row) => [row.sum, Number(row.n)]), [['19945', 200]]);
    const found = await db.createQueryBuilder(Post, 'p').where('MATCH(p.title) AGAINST (:word IN BOOLEAN MODE)', { word: '+word77' }).getMany();
    assert.deepEqual(found.map((post) => post.title), ['word77 common']);
    const sub = await db.createQueryBuilder(User, 'u').where((qb) => `u.id IN ${qb.subQuery().select('p.authorId').from(Post, 'p').where('p.views > 100').getQuery()}`).getOneOrFail();
    assert.equal(sub.mail, 'bob@x');
  });
  await check('typeorm: errors and transactions', async () => {
    const tags = db.getRepository(Tag);
    await assert.rejects(tags.insert({ name: 'new' }), (error) => error instanceof QueryFailedError && error.driverError.errno === 1062);
    await assert.rejects(db.getRepository(User).insert({ name: 'x'.repeat(51), mail: 'e' }), (error) => error.driverError.errno === 1406);
    for (const level of ['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE']) {
      await assert.rejects(db.transaction(level, async (manager) => {
        await manager.insert(Tag, { name: level });
        await manager.transaction((inner) => inner.insert(Tag, { name: `inner ${level}` }));
        throw new Error('back');
      }), /back/);
    }
    assert.equal(await tags.count(), 2);
    await Promise.all([...Array(30).keys()].map(() => db.transaction(async (manager) => {
      const post = await manager.findOne(Post, { where: { views: 199 }, lock: { mode: 'pessimistic_write' } });
      await manager.increment(Tag, { name: 'none' }, 'name', 1);
      await manager.update(Post, { id: post.id }, { title: `${post.title}.` });
    })));
    assert.equal((await db.getRepository(Post).findOneBy({ views: 199 })).title, `word199 common${'.'.repeat(30)}`);
  });
  await check('typeorm: changes of the schema', async () => {
    const runner = db.createQueryRunner();
    const { TableColumn, TableIndex } = require('typeorm');
    await runner.addColumn('post', new TableColumn({ name: 'extra', type: 'varchar', length: '20', isNullable: true, default: "'x'" }));
    await runner.changeColumn('post', 'extra', new TableColumn({ name: 'extra', type: 'text', isNullable: true }));
    await runner.renameColumn('post', 'extra', 'other');
    await runner.createIndex('post', new TableIndex({ name: 'of_views', columnNames: ['views'] }));
    await runner.dropColumn('post', 'other');
    await runner.renameTable('tag', 'label');
    assert.deepEqual([await runner.hasTable('label'), await runner.hasColumn('post', 'other')], [true, false]);
    await runner.clearDatabase();
    await runner.release();
  });
  await db.destroy();
}

async function main() {
  const admin = await mysql.createConnection({ ...server, multipleStatements: true });
  for (const name of ['orm_sequelize', 'orm_typeorm']) await admin.query(`DROP DATABASE IF EXISTS ${name}; CREATE DATABASE ${name}`);
  await admin.end();
  await sequelize();
  await typeorm();
}

main().then(() => process.exit());
