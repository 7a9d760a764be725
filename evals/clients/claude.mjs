// claude.mjs CLAUDE PHRASINGS: runs the real Claude Code on the configuration in
// $HOME. The model is a script: it calls lookup_customer and searches for tools
// with every phrasing; each search must find the phrasing's tool, but for those
// that are known to be missed.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';

const [claude, file] = process.argv.slice(2);
const prefix = 'mcp__countersign__';
const calls = fs.readFileSync(file, 'utf8').split('\n').filter((line) => line && !line.startsWith('#')).map((line) => {
  const [tool, query, known] = line.split('\t');
  return { name: 'ToolSearch', input: { query }, want: prefix + tool, known };
});
calls.push({ name: prefix + 'lookup_customer', input: {}, want: 'C-1001' });

// The answers that the client sent back, by call.
const answers = new Map();

// message answers with content blocks, as the API streams them.
function message(response, model, blocks) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type, fields) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  const usage = { input_tokens: 1, output_tokens: 1 };
  send('message_start', { message: { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage } });
  blocks.forEach(({ text, call, id }, index) => {
    send('content_block_start', { index, content_block: call ? { type: 'tool_use', id, name: call.name, input: {} } : { type: 'text', text: '' } });
    send('content_block_delta', { index, delta: call ? { type: 'input_json_delta', partial_json: JSON.stringify(call.input) } : { type: 'text_delta', text } });
    send('content_block_stop', { index });
  });
  send('message_delta', { delta: { stop_reason: blocks[0].call ? 'tool_use' : 'end_turn', stop_sequence: null }, usage });
  send('message_stop', {});
  response.end();
}

const api = http.createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  if (request.method !== 'POST' || !request.url.startsWith('/v1/messages?') && request.url !== '/v1/messages') {
    response.writeHead(404, { 'content-type': 'application/json' });
    return response.end('{"type":"error","error":{"type":"not_found_error","message":"not here"}}');
  }
  const body = JSON.parse(text);
  const results = body.messages.flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((b) => b.type === 'tool_result');
  for (const result of results) answers.set(result.tool_use_id, JSON.stringify(result.content));
  const conversation = body.tools?.length > 0;
  message(response, body.model, conversation && results.length === 0
    ? calls.map((call, i) => ({ call, id: `toolu_${i}` }))
    : [{ text: 'done' }]);
});
await new Promise((listening) => api.listen(0, '127.0.0.1', listening));

const run = spawn(claude, ['-p', 'hello', '--allowedTools', `${prefix}*`, '--no-session-persistence'], {
  cwd: process.env.HOME,
  stdio: ['ignore', 'inherit', 'inherit'],
  env: {
    ...process.env, ENABLE_TOOL_SEARCH: 'true', ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: `http://127.0.0.1:${api.address().port}`,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1',
  },
});
const limit = setTimeout(() => run.kill('SIGKILL'), 120_000);
await new Promise((ended) => run.on('close', ended));
clearTimeout(limit);
api.closeAllConnections();
api.close();

let missed = 0;
calls.forEach((call, i) => {
  const answer = answers.get(`toolu_${i}`) ?? 'no answer';
  if (answer.includes(call.want)) return;
  if (!call.known) missed += 1;
  console.log(`${call.name} ${JSON.stringify(call.input)} doesn't find ${call.want}: ${answer.slice(0, 300)}`);
});
process.exitCode = missed ? 1 : 0;
