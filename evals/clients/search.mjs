// search.mjs CLAUDE PHRASINGS: runs the real Claude Code on the configuration in
// $HOME. It lists the seven tools and calls one, and its tool search has to find
// each tool by every phrasing: first of all tools, its own among them, by at least
// five of them, and somewhere by those that are marked "later".
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { converse, prefix } from './anthropic.mjs';

const [claude, file] = process.argv.slice(2);
const phrasings = fs.readFileSync(file, 'utf8').split('\n').filter((line) => line && !line.startsWith('#')).map((line) => {
  const [tool, query, mark] = line.split('\t');
  return { tool, query, mark };
});

const calls = [{ name: `${prefix}lookup_customer`, input: {} }, ...phrasings.map(({ query }) => ({ name: 'ToolSearch', input: { query } }))];
let names, found;
await converse(claude, (answers, body) => {
  if (answers.length === 0) {
    names = [...new Set(JSON.stringify(body).match(new RegExp(`${prefix}\\w+`, 'g')))];
    return calls;
  }
  found = answers;
  return [];
}, ['--allowedTools', `${prefix}*`], { ENABLE_TOOL_SEARCH: 'true' });

assert.equal(names?.length, 7, `the first request names ${names}`);
assert(found?.[0].text.includes('"customer_id":"C-1001"'), `lookup_customer: ${JSON.stringify(found?.[0])}`);
const first = Object.fromEntries(names.map((name) => [name.slice(prefix.length), 0]));
let missed = 0;
phrasings.forEach(({ tool, query, mark }, i) => {
  const list = [...found[i + 1].text.matchAll(/"tool_name":"(\w+)"/g)].map((m) => m[1].replace(prefix, ''));
  const place = list.indexOf(tool);
  if (place === 0) first[tool] += 1;
  if (place === 0 || (mark === 'later' && place > 0)) return;
  missed += 1;
  console.log(`"${query}" finds ${list}, not ${tool}`);
});
console.log(`first of ${phrasings.length} phrasings: ${Object.entries(first).map(([tool, n]) => `${tool} ${n}`).join(', ')}`);
process.exitCode = missed > 0 || Object.values(first).some((n) => n < 5) ? 1 : 0;
