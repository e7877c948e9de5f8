'use strict';

const native = require('./native');
const { Connection } = require('./connection');
const { answer } = require('./errors');

/** A server that opens a database to MySQL clients. */
class Server {
  #native;

  constructor(inner) {
    this.#native = inner;
  }

  /** How root connects. */
  get url() {
    return this.#native.url;
  }

  /** Ends the clients' connections. */
  async stop() {
    await answer(this.#native.stop());
  }
}

/** An open database. It stays open until it and its connections are closed. */
class Database {
  #native;

  constructor(inner) {
    this.#native = inner;
  }

  /** A connection; `options.database` is made where there is none. */
  async connect(options = {}, leave = undefined) {
    const several = options.multipleStatements === true;
    const connected = await answer(this.#native.connect(options.database ?? 'main', several));
    return new Connection(connected, options, leave);
  }

  /** Opens the database to MySQL clients, on "127.0.0.1:0" or "unix:/some/path". */
  async serve(address) {
    return new Server(await answer(this.#native.serve(address)));
  }

  /** Closes a database in memory, of which copies can be opened then. */
  async intoTemplate() {
    return new Template(await answer(this.#native.makeTemplate()));
  }

  async close() {
    await answer(this.#native.close());
  }
}

/** A database in memory of which copies are opened. They share memory until they write. */
class Template {
  #native;

  constructor(inner) {
    this.#native = inner;
  }

  async open() {
    return new Database(await answer(this.#native.open()));
  }
}

/** Opens the database in a directory, or makes one in memory for ":memory:". */
async function open(directory, options = {}) {
  const given = {
    bufferPoolSize: options.bufferPoolSize,
    workMemory: options.workMemory,
    secureFilePriv: options.secureFilePriv,
    mustExist: options.mustExist,
  };
  return new Database(await answer(native.Database.open(directory, given)));
}

module.exports = { Database, Server, Template, open };
