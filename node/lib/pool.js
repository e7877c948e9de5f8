'use strict';

const { join } = require('./shared');

const CONNECTIONS = 10;

/** Connections to one database, which are made when they are needed and used again. */
class Pool {
  #options;
  #joined = null;
  #idle = [];
  #open = 0;
  #waiting = [];
  #ended = false;

  constructor(options) {
    this.#options = options;
  }

  /** A connection; `release()` gives it back. */
  async getConnection() {
    if (this.#ended) throw new Error('the pool is closed');
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#open >= (this.#options.connectionLimit ?? CONNECTIONS)) {
      return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
    }
    this.#open += 1;
    try {
      return await this.#connect();
    } catch (error) {
      this.#open -= 1;
      throw error;
    }
  }

  async query(statement, values) {
    return this.#with((connection) => connection.query(statement, values));
  }

  async execute(statement, values) {
    return this.#with((connection) => connection.execute(statement, values));
  }

  /** Ends all connections, those in use when they are released, and closes the database. */
  async end() {
    this.#ended = true;
    this.#waiting.splice(0).forEach(({ reject }) => reject(new Error('the pool is closed')));
    await Promise.all(this.#idle.splice(0).map((connection) => connection.end()));
    const joined = await this.#joined;
    this.#joined = null;
    await joined?.leave();
  }

  async #connect() {
    this.#joined ??= join(this.#options.path, this.#options);
    const { database } = await this.#joined;
    const connection = await database.connect(this.#options);
    connection.release = () => this.#release(connection);
    return connection;
  }

  #release(connection) {
    const next = this.#waiting.shift();
    if (next) next.resolve(connection);
    else if (this.#ended) connection.end().catch(() => {});
    else if (!this.#idle.includes(connection)) this.#idle.push(connection);
  }

  async #with(work) {
    const connection = await this.getConnection();
    try {
      return await work(connection);
    } finally {
      connection.release();
    }
  }
}

/** A pool of connections to the database in `path`; ":memory:" without one. */
function createPool(options = {}) {
  return new Pool(typeof options === 'string' ? { path: options } : options);
}

module.exports = { Pool, createPool };
