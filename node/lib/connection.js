'use strict';

const sqlstring = require('sqlstring');
const namedPlaceholders = require('named-placeholders')();
const { answer, makeError } = require('./errors');
const { makeRows, toParameter } = require('./values');

const NOTHING = [];

/** The outcome of a statement without rows, under mysql2's names. */
function headerOf(header) {
  return {
    fieldCount: 0,
    affectedRows: header.affectedRows,
    insertId: typeof header.insertId === 'bigint' ? header.insertId.toString() : header.insertId,
    info: header.info,
    warningStatus: header.warnings,
    changedRows: Number(/^Rows matched: \d+ {2}Changed: (\d+)/.exec(header.info)?.[1] ?? 0),
  };
}

/** A connection. Its statements run one after another. */
class Connection {
  #native;
  #options;
  #leave;

  constructor(inner, options = {}, leave = async () => {}) {
    this.#native = inner;
    this.#options = options;
    this.#leave = leave;
  }

  /** What CONNECTION_ID() gives. */
  get threadId() {
    return this.#native.id;
  }

  /** Runs a text, into which the values are written, escaped. */
  async query(statement, values) {
    const { sql, params, options } = this.#statement(statement, values);
    const text = params === undefined ? sql : this.format(sql, params);
    return this.#results(await answer(this.#native.run(text, NOTHING), text), options, text);
  }

  /** Runs a prepared statement with values; the connection keeps it prepared. */
  async execute(statement, values) {
    const { sql, params, options } = this.#statement(statement, values);
    const given = (params ?? NOTHING).map((value) => toParameter(value, options));
    return this.#results(await answer(this.#native.run(sql, given), sql), options, sql);
  }

  /** Checks a statement and gives an object that executes it. */
  async prepare(statement) {
    const { sql, options } = this.#statement(statement);
    await answer(this.#native.prepare(sql), sql);
    return { execute: (values) => this.execute({ ...options, sql }, values), close: async () => {} };
  }

  /** The rows of a statement, read while they are taken. Meanwhile the connection takes no other. */
  async *stream(statement, values) {
    const { sql, params, options } = this.#statement(statement, values);
    const given = (params ?? NOTHING).map((value) => toParameter(value, options));
    const stream = await answer(this.#native.stream(sql, given), sql);
    try {
      const fields = stream.fields();
      for (;;) {
        const cells = await answer(stream.next(), sql);
        if (!cells) return;
        yield* makeRows(fields, cells, options);
      }
    } finally {
      await answer(stream.close());
    }
  }

  async beginTransaction() {
    await this.query('START TRANSACTION');
  }

  async commit() {
    await this.query('COMMIT');
  }

  async rollback() {
    await this.query('ROLLBACK');
  }

  /** Answers where the connection is open. */
  async ping() {
    await answer(this.#native.warnings());
    return true;
  }

  /** Returns to the state of a new connection; `database` becomes the default one. */
  async changeUser({ database } = {}) {
    await this.reset();
    const name = database ?? this.#options.database ?? 'main';
    await answer(this.#native.useDatabase(name));
  }

  /** Returns to the state of a new connection: rolls back, forgets variables and temporary tables. */
  async reset() {
    await answer(this.#native.reset());
  }

  /** Conditions of the last statement: `{ level, code, message }`. */
  async warnings() {
    return answer(this.#native.warnings());
  }

  /** Ends the statement that runs, with error 1317. */
  interrupt() {
    this.#native.interrupt();
  }

  /** Ends the connection behind its statements. */
  async end() {
    await answer(this.#native.close());
    const leave = this.#leave;
    this.#leave = async () => {};
    await leave();
  }

  /** Ends the connection and what it runs. */
  destroy() {
    this.interrupt();
    this.end().catch(() => {});
  }

  escape(value) {
    return sqlstring.escape(value, false, this.#options.timezone);
  }

  escapeId(name) {
    return sqlstring.escapeId(name);
  }

  format(sql, values) {
    return sqlstring.format(sql, values, false, this.#options.timezone);
  }

  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    await this.end();
  }

  /** A statement's text, values by position, and options. */
  #statement(statement, values) {
    const own = typeof statement === 'string' ? { sql: statement } : statement;
    const options = { ...this.#options, ...own };
    let [sql, params] = [options.sql, values ?? own.values];
    const isNamed = params !== null && typeof params === 'object' && !Array.isArray(params);
    if (isNamed && options.namedPlaceholders) [sql, params] = namedPlaceholders(sql, params);
    if (params !== undefined && !Array.isArray(params)) params = [params];
    return { sql, params, options };
  }

  /** `[rows, fields]` as mysql2 gives them: lists of both where there are several results. */
  #results({ results, failure }, options, sql) {
    if (failure) throw makeError(failure, sql);
    const rows = results.map(({ fields, cells, header }) =>
      fields ? makeRows(fields, cells, options) : headerOf(header));
    const fields = results.map((result) => result.fields ?? undefined);
    return results.length === 1 ? [rows[0], fields[0]] : [rows, fields];
  }
}

module.exports = { Connection };
