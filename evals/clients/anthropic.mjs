// anthropic.mjs: a stand-in for the Anthropic API, and Claude Code on it. The
// model is a script.
import { spawn } from 'node:child_process';
import http from 'node:http';

export const prefix = 'mcp__countersign__';

const flat = (content) => (typeof content === 'string' ? content : (content ?? []).map((block) => block.text ?? JSON.stringify(block)).join('\n'));

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

// serve starts the API. The model makes the calls { name, input } that
// model(answers, body) returns, given the answers { text, isError } to all calls
// before, and says "done" where there is none. A request that comes again gets
// the same turn.
export async function serve(model) {
  const turns = new Map();
  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    if (request.method !== 'POST' || new URL(request.url, 'http://localhost').pathname !== '/v1/messages') {
      response.writeHead(404, { 'content-type': 'application/json' });
      return response.end('{"type":"error","error":{"type":"not_found_error","message":"not here"}}');
    }
    const body = JSON.parse(text);
    const results = body.messages.flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((b) => b.type === 'tool_result');
    const answers = []; // in the order of the calls
    for (const b of results) answers[Number(b.tool_use_id.replace('toolu_', ''))] = { text: flat(b.content), isError: b.is_error === true };
    let calls = [];
    if (body.tools?.length > 0) { // else it asks for a title or the like
      if (!turns.has(answers.length)) turns.set(answers.length, model(answers, body));
      calls = await turns.get(answers.length);
    }
    return message(response, body.model, calls.length > 0 ? calls.map((call, i) => ({ call, id: `toolu_${answers.length + i}` })) : [{ text: 'done' }]);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const close = () => { server.closeAllConnections(); server.close(); };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

// environment is Claude Code's, on a stand-in. It waits for its servers before
// the first request, however slow the machine is.
export const environment = (url) => ({
  ...process.env, ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: url,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1', MCP_CONNECTION_NONBLOCKING: 'false',
});

// converse has Claude Code play a conversation with a model in print mode.
export async function converse(claude, model, args, env = {}) {
  const api = await serve(model);
  const run = spawn(claude, ['-p', 'hello', '--no-session-persistence', ...args], {
    cwd: process.env.HOME, stdio: ['ignore', 'ignore', 'inherit'], env: { ...environment(api.url), ...env },
  });
  const limit = setTimeout(() => run.kill('SIGKILL'), 120_000);
  const code = await new Promise((ended) => run.on('close', (exit, signal) => ended(exit ?? signal)));
  clearTimeout(limit);
  api.close();
  if (code !== 0) throw new Error(`Claude Code ended with ${code}`);
}
