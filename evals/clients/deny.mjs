// deny.mjs CLAUDE PROGRAMS: the deny rules that `connect claude-code` wrote into
// $HOME hold in the real Claude Code, though all of its Bash is allowed: no
// spelling runs one of the programs.
import assert from 'node:assert/strict';
import path from 'node:path';
import { converse } from './anthropic.mjs';

const [claude, programs] = process.argv.slice(2);
const commands = ['countersign', 'countersign-mcp'].flatMap((name) => {
  const program = path.join(programs, name);
  return [
    `${name} --help`, `${program} --help`, `env -u CLAUDECODE ${program} --help`, `env -i ${program} --help`, `CLAUDECODE= ${program} --help`,
    `nohup ${program} --help`, `timeout 5 ${program} --help`, `cd / && ${program} --help`, `true; ${program} --help`, `echo | ${program} --help`,
  ];
});
let answers;
await converse(claude, (given) => {
  answers = given;
  return given.length > 0 ? [] : ['echo "it" runs', ...commands].map((command) => ({ name: 'Bash', input: { command, description: 'try' } }));
}, ['--allowedTools', 'Bash']);

const [control, ...tried] = answers;
assert.equal(control?.text, 'it runs'); // else nothing runs, and nothing is shown
assert.equal(tried.length, commands.length);
const ran = commands.filter((command, i) => !tried[i].isError || !/denied/.test(tried[i].text));
assert.deepEqual(ran, [], JSON.stringify(tried));
console.log(`${commands.length} spellings are denied`);
