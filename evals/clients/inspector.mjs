// inspector.mjs INSPECTOR PROGRAMS: the story by the Inspector's CLI, each call in a
// process of its own.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Story } from './story.mjs';

const [inspector, programs] = process.argv.slice(2);
const story = new Story(programs);
const config = path.join(path.dirname(story.db), 'mcp.json');
fs.writeFileSync(config, JSON.stringify({ mcpServers: { countersign: { type: 'stdio', ...story.server } } }));

async function inspect(...args) {
  const run = promisify(execFile)(inspector, ['--cli', '--config', config, '--server', 'countersign', ...args]);
  const { stdout } = await run.catch((failed) => failed); // it fails where a tool refuses
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`${args.join(' ')}: ${JSON.stringify(await run.catch((failed) => failed))}`);
  }
}

const { tools } = await inspect('--method', 'tools/list', '--strict');
await story.tell(async (name, given) => {
  const args = Object.entries(given).flatMap(([key, value]) => ['--tool-arg', `${key}=${JSON.stringify(value)}`]);
  const answer = await inspect('--method', 'tools/call', '--tool-name', name, ...args);
  return { text: answer.content[0].text, isError: answer.isError === true };
});
story.compare(tools);
console.log(`${tools.length} tools, ${story.texts.length} answers, each of a process of its own`);
