// sdk.mjs CLIENTS PROGRAMS MODE: the story by the official TypeScript client. MODE
// is "v1", or for the second version "legacy", "auto" or a protocol's version.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Story } from './story.mjs';

const [clients, programs, mode] = process.argv.slice(2);
const load = createRequire(path.join(clients, 'package.json'));
const v1 = mode === 'v1';
const { Client } = load(v1 ? '@modelcontextprotocol/sdk/client/index.js' : '@modelcontextprotocol/client');
const { StdioClientTransport } = load(v1 ? '@modelcontextprotocol/sdk/client/stdio.js' : '@modelcontextprotocol/client/stdio');

const options = {};
if (mode === 'auto') options.versionNegotiation = { mode: 'auto' };
else if (/^20(2[6-9]|[3-9])/.test(mode)) options.versionNegotiation = { mode: { pin: mode } };
else if (mode.startsWith('20')) options.supportedProtocolVersions = [mode];

const story = new Story(programs);
const { command, args, env } = story.server;
const client = new Client({ name: 'story', version: '1' }, options);
const transport = new StdioClientTransport({ command, args, cwd: '/', env: { PATH: process.env.PATH, ...env }, stderr: 'ignore' });
let spoken = ''; // the first version doesn't say it elsewhere
const setVersion = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => { spoken = version; setVersion?.(version); };
await client.connect(transport);
const { tools } = await client.listTools();

let progress = 0;
await story.tell(async (name, given, waits) => {
  const asked = { timeout: 60_000, ...(waits && { onprogress: () => { progress += 1; } }) };
  const answer = await client.callTool({ name, arguments: given }, ...(v1 ? [undefined, asked] : [asked]));
  const [{ text }, ...more] = answer.content;
  assert.equal(more.length, 0);
  if (!answer.isError) assert.deepEqual(answer.structuredContent, JSON.parse(text));
  return { text, isError: answer.isError === true };
});
const instructions = client.getInstructions();
const version = client.getNegotiatedProtocolVersion?.() ?? spoken;
await client.close();
story.compare(tools, instructions);
assert(progress > 0, 'no progress was told of the call that waited');
if (/^20/.test(mode)) assert.equal(version, mode);
console.log(`protocol ${version}, ${tools.length} tools, ${story.texts.length} answers, progress told ${progress} times`);
