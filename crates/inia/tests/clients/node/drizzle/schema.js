'use strict';
// The tables of drizzle.js, as drizzle-orm and drizzle-kit read them.
const { relations, sql } = require('drizzle-orm');
const t = require('drizzle-orm/mysql-core');

exports.types = t.mysqlTable('types', {
  id: t.serial().primaryKey(),
  tiny: t.tinyint(),
  tinyUnsigned: t.tinyint({ unsigned: true }).default(200),
  small: t.smallint(),
  medium: t.mediumint(),
  int: t.int(),
  intUnsigned: t.int({ unsigned: true }),
  big: t.bigint({ mode: 'number' }),
  bigUnsigned: t.bigint({ mode: 'bigint', unsigned: true }),
  flag: t.boolean().default(true),
  decimal: t.decimal({ precision: 20, scale: 6 }),
  decimalNumber: t.decimal({ precision: 10, scale: 2, mode: 'number' }),
  decimalUnsigned: t.decimal({ precision: 8, scale: 3, unsigned: true }).default('1.500'),
  double: t.double(),
  doublePrecise: t.double({ precision: 10, scale: 2 }),
  real: t.real(),
  float: t.float(),
  binary: t.binary({ length: 4 }),
  varbinary: t.varbinary({ length: 16 }),
  char: t.char({ length: 3 }),
  varchar: t.varchar({ length: 60 }).default("it's \"quoted\""),
  kind: t.varchar({ length: 10, enum: ['x', 'y'] }),
  tinytext: t.tinytext(),
  text: t.text(),
  mediumtext: t.mediumtext(),
  longtext: t.longtext(),
  level: t.mysqlEnum(['low', 'mid', "hi'gh"]).default('mid'),
  json: t.json(),
  date: t.date(),
  dateText: t.date({ mode: 'string' }).default('2020-02-29'),
  datetime: t.datetime({ fsp: 3 }),
  datetimeText: t.datetime({ mode: 'string', fsp: 6 }).default(sql`CURRENT_TIMESTAMP(6)`),
  time: t.time({ fsp: 2 }),
  year: t.year(),
  stamp: t.timestamp({ fsp: 3 }),
  stampText: t.timestamp({ mode: 'string' }),
  made: t.timestamp().defaultNow().notNull(),
  changed: t.timestamp().onUpdateNow(),
});

exports.users = t.mysqlTable('users', {
  id: t.int().autoincrement().primaryKey(),
  firstName: t.varchar('first_name', { length: 50 }).notNull(),
  lastName: t.varchar('last_name', { length: 50 }).notNull(),
  fullName: t.varchar('full_name', { length: 101 })
    .generatedAlwaysAs(sql`concat(\`first_name\`, ' ', \`last_name\`)`, { mode: 'stored' }),
  mail: t.varchar({ length: 100 }).unique(),
  age: t.int(),
  invitedBy: t.int('invited_by').references(() => exports.users.id, { onDelete: 'set null' }),
}, (own) => [
  t.index('name_index').on(own.lastName, own.firstName),
  t.check('age_check', sql`${own.age} >= 0`),
]);

exports.posts = t.mysqlTable('posts', {
  id: t.bigint({ mode: 'number', unsigned: true }).autoincrement().primaryKey(),
  author: t.int().notNull().references(() => exports.users.id, { onDelete: 'cascade', onUpdate: 'cascade' }),
  title: t.varchar({ length: 100 }).notNull(),
  price: t.decimal({ precision: 10, scale: 2 }),
  more: t.json(),
  made: t.datetime({ fsp: 6 }).notNull().default(sql`CURRENT_TIMESTAMP(6)`),
}, (own) => [
  t.uniqueIndex('title_of_author').on(own.author, own.title),
]);

exports.tags = t.mysqlTable('tags', { id: t.varchar({ length: 20 }).primaryKey() });

exports.postsToTags = t.mysqlTable('posts_to_tags', {
  post: t.bigint({ mode: 'number', unsigned: true }).notNull(),
  tag: t.varchar({ length: 20 }).notNull(),
}, (own) => [
  t.primaryKey({ name: 'posts_to_tags_post_tag', columns: [own.post, own.tag] }),
  t.foreignKey({ name: 'to_post', columns: [own.post], foreignColumns: [exports.posts.id] }).onDelete('cascade'),
  t.foreignKey({ name: 'to_tag', columns: [own.tag], foreignColumns: [exports.tags.id] }),
]);

exports.adults = t.mysqlView('adults').as((db) =>
  db.select({ id: exports.users.id, name: exports.users.fullName }).from(exports.users).where(sql`${exports.users.age} >= 18`));

exports.userRelations = relations(exports.users, ({ one, many }) => ({
  inviter: one(exports.users, { fields: [exports.users.invitedBy], references: [exports.users.id] }),
  posts: many(exports.posts),
}));
exports.postRelations = relations(exports.posts, ({ one, many }) => ({
  by: one(exports.users, { fields: [exports.posts.author], references: [exports.users.id] }),
  tags: many(exports.postsToTags),
}));
exports.tagRelations = relations(exports.tags, ({ many }) => ({ posts: many(exports.postsToTags) }));
exports.postsToTagsRelations = relations(exports.postsToTags, ({ one }) => ({
  post: one(exports.posts, { fields: [exports.postsToTags.post], references: [exports.posts.id] }),
  tag: one(exports.tags, { fields: [exports.postsToTags.tag], references: [exports.tags.id] }),
}));
