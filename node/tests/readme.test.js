'use strict';

// The examples of the README run.

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');

const root = path.join(__dirname, '..', '..');
const blocks = (file) => [...fs.readFileSync(path.join(root, file), 'utf8').matchAll(/```js\n([\s\S]*?)```/g)].map((match) => match[1]);
const examples = blocks('node/README.md');
const AsyncFunction = async function () {}.constructor;

// Runs an example in a directory of its own.
async function run(example, prepare = async () => {}) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'inia-node-'));
  const before = process.cwd();
  process.chdir(directory);
  try {
    await prepare();
    const load = (name) => require(name === 'inia' ? '..' : name);
    return await new AsyncFunction('require', example)(load);
  } finally {
    process.chdir(before);
    fs.rmSync(directory, { recursive: true });
  }
}

examples.forEach((example, number) => {
  test(`example ${number + 1}`, () => run(example));
});

test('the example of the main README', async () => {
  const [example, ...others] = blocks('README.md');
  if (others.length) throw new Error('the README has other examples');
  const rows = await run(`const inia = require('inia'); ${example}; await connection.end(); return rows;`, async () => {
    const inia = require('..');
    const connection = await inia.createConnection({ path: 'some/directory', database: 'shop' });
    await connection.query('CREATE TABLE goods (id INT, name TEXT)');
    await connection.query("INSERT INTO goods VALUES (1, 'tea'), (2, 'rice')");
    await connection.end();
  });
  if (JSON.stringify(rows) !== '[{"id":2,"name":"rice"}]') throw new Error(JSON.stringify(rows));
});

test('the README has examples', () => {
  if (examples.length < 4) throw new Error('no examples were found');
});
