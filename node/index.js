'use strict';

const sqlstring = require('sqlstring');
const { Connection } = require('./lib/connection');
const { Database, Template, open } = require('./lib/database');
const { Pool, createPool } = require('./lib/pool');
const { createConnection } = require('./lib/shared');

module.exports = {
  createConnection,
  createPool,
  open,
  Connection,
  Database,
  Pool,
  Template,
  escape: sqlstring.escape,
  escapeId: sqlstring.escapeId,
  format: sqlstring.format,
  raw: sqlstring.raw,
};
