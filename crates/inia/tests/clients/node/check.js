'use strict';
// Runs a check, and prints "ok NAME" or "failed NAME"; what is wrong goes to the error output.
module.exports = async function check(name, work) {
  try {
    await work();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`failed ${name}`);
    console.error(name, error);
  }
};
