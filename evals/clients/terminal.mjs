// terminal.mjs CLAUDE PROGRAMS: the story by Claude Code's terminal UI, in tmux. A
// person types the question, and agrees where Claude Code asks for leave.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { environment, serve } from './anthropic.mjs';
import { Story } from './story.mjs';
import { telling } from './telling.mjs';

const [claude, programs] = process.argv.slice(2);
const story = new Story(programs);
const home = path.dirname(story.db);
const told = telling(story);
const api = await serve(told.model);

// A home in which the questions of a first start have been answered.
const key = 'sk-none-not-a-key-at-all';
fs.writeFileSync(path.join(home, '.claude.json'), JSON.stringify({
  hasCompletedOnboarding: true, theme: 'dark', customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
  projects: { [home]: { hasTrustDialogAccepted: true } },
}));
fs.writeFileSync(path.join(home, 'mcp.json'), JSON.stringify({ mcpServers: { countersign: { type: 'stdio', ...story.server } } }));
const env = { ...environment(api.url), HOME: home, ANTHROPIC_API_KEY: key, ENABLE_TOOL_SEARCH: 'false', TERM: 'xterm-256color', LANG: 'C.UTF-8' };

const tmux = (...args) => execFileSync('tmux', ['-S', path.join(home, 'tmux'), ...args], { cwd: home, env, encoding: 'utf8' });
const screen = () => tmux('capture-pane', '-p', '-t', 'claude');
const pause = () => new Promise((over) => setTimeout(over, 300));

// until looks at the screen until it shows what is wanted; look may press keys.
async function until(wanted, look = () => {}) {
  for (const end = Date.now() + 120_000; Date.now() < end; await pause()) {
    const text = screen();
    if (wanted.test(text)) return;
    look(text);
  }
  throw new Error(`the screen doesn't show ${wanted}:\n${screen()}`);
}

// The mode that asks for leave had another name once.
const mode = execFileSync(claude, ['--help'], { env, encoding: 'utf8' }).includes('"manual"') ? 'manual' : 'default';
tmux('-f', '/dev/null', 'new-session', '-d', '-x', '140', '-y', '50', '-s', 'claude',
  claude, '--mcp-config', path.join(home, 'mcp.json'), '--strict-mcp-config', '--permission-mode', mode);
let asked = false;
try {
  await until(/❯/);
  tmux('send-keys', '-t', 'claude', '-l', 'please refund my orders');
  await pause();
  tmux('send-keys', '-t', 'claude', 'Enter');
  await until(/^● done/m, (text) => {
    if (!/Do you want to proceed/.test(text)) return;
    asked = true;
    tmux('send-keys', '-t', 'claude', 'Enter');
  });
} finally {
  try { tmux('kill-server'); } catch { /* Claude Code has ended by itself */ }
  api.close();
}
const summary = told.end();
assert(asked, 'no leave was asked for');
console.log(summary);
