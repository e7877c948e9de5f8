'use strict';

// Directories that connections and pools of this process have open: a directory opens once.

const path = require('node:path');
const { open } = require('./database');

const directories = new Map();

/** Opens a directory, or joins those who have it open. Databases in memory are never shared. */
async function join(directory = ':memory:', options = {}) {
  if (directory === ':memory:') {
    const database = await open(directory, options);
    return { database, leave: () => database.close() };
  }
  const key = path.resolve(directory);
  const entry = directories.get(key) ?? { users: 0, opened: open(directory, options) };
  directories.set(key, entry);
  entry.users += 1;
  const leave = async () => {
    entry.users -= 1;
    if (entry.users > 0) return;
    if (directories.get(key) === entry) directories.delete(key);
    await (await entry.opened).close();
  };
  try {
    return { database: await entry.opened, leave };
  } catch (error) {
    if (directories.get(key) === entry) directories.delete(key);
    throw error;
  }
}

/** A connection to the database in `path`, which it opens; ":memory:" without one. */
async function createConnection(options = {}) {
  const given = typeof options === 'string' ? { path: options } : options;
  const { database, leave } = await join(given.path, given);
  try {
    return await database.connect(given, leave);
  } catch (error) {
    await leave();
    throw error;
  }
}

module.exports = { createConnection, join };
