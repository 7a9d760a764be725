// codex.mjs CODEX [PROGRAMS]: the real Codex on a stand-in for the OpenAI API, whose
// model is a script: it tells the story, or without PROGRAMS looks the customer up
// by the configuration in $HOME.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import http from 'node:http';
import { Story } from './story.mjs';

const [codex, programs] = process.argv.slice(2);
const namespace = 'mcp__countersign';
const story = programs && new Story(programs);
const calls = story ? story.calls() : (async function* lookUp() {
  const { text } = yield { name: 'lookup_customer', arguments: {} };
  assert(text.includes('"customer_id":"C-1001"'), text);
})();

let failed, first, over;
const turns = new Map();

// turn is the next call, after the text of the last answer.
async function turn(answer) {
  try {
    const next = await calls.next(answer);
    over = next.done;
    return next.done ? undefined : next.value;
  } catch (err) {
    failed = err;
    return undefined;
  }
}

// received is what Codex hands on of an answer, without its own words about it.
const received = (output) => (typeof output === 'string' ? output : output.map((part) => part.text).join('\n'))
  .replace(/^Wall time: .* seconds\nOutput:\n/, '');

const api = http.createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  if (request.method !== 'POST') {
    response.writeHead(404);
    return response.end('{}');
  }
  const body = JSON.parse(text);
  first ??= body;
  const outputs = body.input.filter((item) => item.type === 'function_call_output');
  const n = outputs.length;
  if (!turns.has(n)) turns.set(n, turn(n > 0 ? { text: received(outputs.at(-1).output) } : undefined));
  const call = await turns.get(n);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type, fields) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  const item = call
    ? { type: 'function_call', id: `fc_${n}`, call_id: `call_${n}`, namespace, name: call.name, arguments: JSON.stringify(call.arguments) }
    : { type: 'message', id: `msg_${n}`, role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'done', annotations: [] }] };
  send('response.created', { response: { id: `resp_${n}`, status: 'in_progress' } });
  send('response.output_item.done', { output_index: 0, item });
  send('response.completed', { response: { id: `resp_${n}`, status: 'completed', usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } } });
  return response.end();
});
await new Promise((listening) => api.listen(0, '127.0.0.1', listening));

// A JSON string is a TOML string as well.
const settings = {
  model: '"none"', model_provider: '"standin"', approval_policy: '"never"', sandbox_mode: '"read-only"', check_for_update_on_startup: 'false',
  'model_providers.standin': `{name="standin",base_url="http://127.0.0.1:${api.address().port}/v1",wire_api="responses",env_key="STANDIN_KEY",request_max_retries=0,stream_max_retries=0}`,
};
if (story) {
  const { command, args, env } = story.server;
  settings['mcp_servers.countersign'] = `{command=${JSON.stringify(command)},args=${JSON.stringify(args)},env={COUNTERSIGN_TOKEN=${JSON.stringify(env.COUNTERSIGN_TOKEN)}},default_tools_approval_mode="approve"}`;
}
const run = spawn(codex, ['exec', '--skip-git-repo-check', ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]), 'hello'], {
  cwd: process.env.HOME, stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, STANDIN_KEY: 'none' },
});
const limit = setTimeout(() => run.kill('SIGKILL'), 120_000);
const code = await new Promise((ended) => run.on('close', (exit, signal) => ended(exit ?? signal)));
clearTimeout(limit);
api.closeAllConnections();
api.close();

if (failed) throw failed;
assert(over && code === 0, `the story broke off, exit code ${code}`);
const space = first.tools.find((t) => t.type === 'namespace' && t.name === namespace);
const tools = space?.tools ?? [];
if (story) {
  // Codex hands on no limits of lengths and numbers, patterns, examples and defaults.
  const kept = (schema) => JSON.parse(JSON.stringify(schema, (key, value) => (/^(m(in|ax)(Length|Items|imum)?|minimum|maximum|pattern|examples|default)$/.test(key) ? undefined : value)));
  const told = tools.map((t) => ({ name: t.name, description: t.description, inputSchema: t.parameters }));
  const said = story.compare(told, space.description, kept);
  console.log(`${tools.length} tools, ${story.texts.length} answers, instructions whole, progress sent ${said.progress} times`);
} else {
  assert.equal(tools.length, 7);
  console.log('7 tools, one answer');
}
