'use strict';

// Errors as mysql2 gives them: `errno` and `code` are MySQL's, `sqlMessage` is the text.

const names = require('./error-names.json');

/** The error that a failure of the native part stands for. */
function makeError(failure, sql) {
  const error = new Error(failure.message);
  error.code = names[failure.errno] ?? 'INIA_ERROR';
  error.errno = failure.errno;
  error.sqlState = failure.sqlState;
  error.sqlMessage = failure.message;
  if (sql !== undefined) error.sql = sql;
  return error;
}

/** What a promise of the native part was fulfilled with; a failure is thrown from here. */
async function answer(promise, sql) {
  const given = await promise;
  if (given?.errno !== undefined) throw makeError(given, sql);
  return given;
}

module.exports = { answer, makeError };
