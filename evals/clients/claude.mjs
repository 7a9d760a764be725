// claude.mjs CLAUDE PROGRAMS: the story by the real Claude Code in print mode.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { converse, prefix } from './anthropic.mjs';
import { Story } from './story.mjs';
import { telling } from './telling.mjs';

const [claude, programs] = process.argv.slice(2);
const story = new Story(programs);
const config = path.join(path.dirname(story.db), 'mcp.json');
fs.writeFileSync(config, JSON.stringify({ mcpServers: { countersign: { type: 'stdio', ...story.server } } }));
const log = path.join(path.dirname(story.db), 'debug');

const told = telling(story);
await converse(claude, told.model, ['--mcp-config', config, '--strict-mcp-config', '--allowedTools', `${prefix}*`, '--debug-file', log], { ENABLE_TOOL_SEARCH: 'false' });
const summary = told.end();
const debug = fs.readFileSync(log, 'utf8');
assert.doesNotMatch(debug, /Skipping tool/);
const version = /"negotiatedProtocolVersion":"([^"]+)"/.exec(debug)?.[1] ?? 'unknown';
console.log(`protocol ${version}, ${summary}`);
