// story.mjs: what every client goes through (story.json). A human decides
// meanwhile, in a process of their own; in the end what the client handed on is
// compared with what the server said, byte for byte.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const steps = JSON.parse(fs.readFileSync(new URL('story.json', import.meta.url), 'utf8'));
const filled = (value, id) => JSON.parse(JSON.stringify(value).replaceAll('{id}', id));

// Story is one telling on a fresh demo shop. A client has to start `server`.
export class Story {
  texts = []; // of the answers, as the client handed them on

  constructor(programs) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'story-'));
    this.programs = programs;
    this.db = path.join(folder, 'demo.db');
    this.wire = path.join(folder, 'wire'); // a copy of all that the server says
    const args = ['--demo', '--db', this.db, '--customer', 'C-1001', '--toolsets', 'support,human'];
    this.server = {
      command: 'sh',
      args: ['-c', '"$@" | tee -a "$0"', this.wire, path.join(programs, 'countersign-mcp'), ...args],
      env: { COUNTERSIGN_TOKEN: 'demo-staff-token' },
    };
  }

  // operator runs a command of the operators' program.
  async operator(args) {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, COUNTERSIGN_DB: this.db, COUNTERSIGN_TOKEN: 'demo-manager-token' };
    return (await run(path.join(this.programs, 'countersign'), args, { env })).stdout;
  }

  // answerNext runs a command on the next request that waits for an answer.
  async answerNext(command) {
    for (const end = Date.now() + 30_000; Date.now() < end;) {
      const [request] = JSON.parse(await this.operator(['requests', 'list', '--json']));
      if (request) return this.operator([...filled(command, request.request_id), '--yes']);
    }
    throw new Error('no request waits for an answer');
  }

  // calls yields the calls in turn, each as { name, arguments, waits }, and
  // takes their answers, { text, isError }.
  async* calls() {
    let id = '';
    for (const step of steps) {
      if (step.operator) {
        await this.operator([...filled(step.operator, id), '--yes']);
        continue;
      }
      const decided = step.meanwhile && this.answerNext(step.meanwhile);
      decided?.catch(() => {}); // it is awaited below
      const { text, isError } = yield { name: step.call, arguments: filled(step.arguments, id), waits: Boolean(step.meanwhile) };
      await decided;
      this.texts.push(text);
      for (const part of step.shows) assert(text.includes(part), `${step.call} doesn't show ${part}: ${text}`);
      if (isError !== undefined) assert.equal(isError, Boolean(step.refused), `${step.call}: isError`);
      id = /(AP|RQ)-[0-9A-Z]+/.exec(text)?.[0] ?? id;
    }
  }

  // tell tells all of it by call(name, arguments, waits).
  async tell(call) {
    const calls = this.calls();
    for (let next = await calls.next(); !next.done;) next = await calls.next(await call(next.value.name, next.value.arguments, next.value.waits));
  }

  // said is what the server said: its messages, and of them the parts that a
  // client hands on to a model.
  said() {
    const messages = fs.readFileSync(this.wire, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
    const results = messages.map((m) => m.result ?? {});
    return {
      instructions: results.find((r) => r.instructions).instructions,
      tools: results.find((r) => r.tools).tools,
      texts: results.filter((r) => r.content).map((r) => r.content[0].text),
      progress: messages.filter((m) => m.method === 'notifications/progress').length,
    };
  }

  // compare compares what a client handed on: its tools as { name, description,
  // inputSchema } and, where it hands them on, the instructions. kept is what it
  // keeps of a schema.
  compare(tools, instructions, kept = (schema) => schema) {
    const said = this.said();
    const byName = (list) => Object.fromEntries(list.map((t) => [t.name, { description: t.description, inputSchema: kept(t.inputSchema) }]));
    assert.equal(said.tools.length, 9);
    assert.deepEqual(byName(tools), byName(said.tools));
    assert.equal(tools.length, said.tools.length);
    assert.deepEqual(this.texts, said.texts);
    assert.equal(this.texts.length, steps.filter((s) => s.call).length);
    if (instructions !== undefined) assert.equal(instructions, said.instructions);
    return said;
  }
}
