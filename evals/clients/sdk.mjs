// sdk.mjs CLIENTS SERVER ARGS…: the official TypeScript client lists the tools and
// looks the customer up.
import { createRequire } from 'node:module';
import path from 'node:path';

const [clients, command, ...args] = process.argv.slice(2);
const load = createRequire(path.join(clients, 'package.json'));
const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');

const client = new Client({ name: 'check', version: '1' });
await client.connect(new StdioClientTransport({ command, args, cwd: '/', env: { COUNTERSIGN_TOKEN: 'demo-staff-token' } }));
const { tools } = await client.listTools();
const answer = await client.callTool({ name: 'lookup_customer', arguments: {} });
await client.close();
if (tools.length !== 7) throw new Error(`${tools.length} tools`);
if (answer.isError || !answer.content[0].text.includes('C-1001')) throw new Error(JSON.stringify(answer));
