'use strict';

// The examples of the README run.

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');

const text = fs.readFileSync(path.join(__dirname, '..', 'README.md'), 'utf8');
const examples = [...text.matchAll(/```js\n([\s\S]*?)```/g)].map((match) => match[1]);
const AsyncFunction = async function () {}.constructor;

examples.forEach((example, number) => {
  test(`example ${number + 1}`, async () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'inia-node-'));
    const before = process.cwd();
    process.chdir(directory);
    try {
      const load = (name) => require(name === 'inia' ? '..' : name);
      await new AsyncFunction('require', example)(load);
    } finally {
      process.chdir(before);
      fs.rmSync(directory, { recursive: true });
    }
  });
});

test('the README has examples', () => {
  if (examples.length < 4) throw new Error('no examples were found');
});
