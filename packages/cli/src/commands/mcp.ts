import { setTimeout as delay } from 'node:timers/promises';
import type { McpPermission, McpServer, McpToolChange, NewMcpServer, RegistryServer } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { countOf } from '../format/count.js';
import { relativeTime } from '../format/relative-time.js';
import { formatToolChange } from '../format/tool-change.js';
import {
  type AddOptions,
  isFile,
  type McpTrust,
  parseMcpFile,
  toMcpServer,
  withOptions,
} from '../mcp/to-mcp-server.js';
import { choice, choices } from '../parse/choice.js';
import { integer } from '../parse/integer.js';
import { printDone } from '../print-done.js';
import { printItems } from '../print-items.js';
import { readTextFile } from '../read-text-file.js';
import type { Session } from '../session.js';

/** The enums of the contracts, repeated here because importing the schemas would load zod at every start. */
const TRUST: Record<McpTrust, true> = { vendor: true, org: true, community: true, user: true, inferred: true };
const PERMISSION: Record<McpPermission, true> = { network: true, home: true, paths: true };

const collect = (value: string, before: string[] = []): string[] => [...before, value];

export const addMcp: AddCommand = (program, cli) => {
  const mcp = program
    .command('mcp')
    .description('manage MCP servers, whose tools become tools of Capstan')
    .action((_options: object, command: Command) => cli.run(command, printServers));
  mcp
    .command('list')
    .description('list MCP servers with their status')
    .action((_options: object, command: Command) => cli.run(command, printServers));
  mcp
    .command('add')
    .description('add an MCP server by URL, by program, from the registry or from a file')
    .argument(
      '[name]',
      'name in the tool ids, mcp:<name>:<tool>; or alone a URL, a name from the registry or an mcp.json',
    )
    .argument('[what...]', 'URL (streamable HTTP), name from the registry, or after -- the program and its arguments')
    .option('--file <mcp.json>', 'add all servers of an mcp.json file; - for stdin')
    .option('--header <name=value>', 'header to send, may use secret://name (repeatable)', collect)
    .option('--env <name=value>', 'environment variable of the program, may use secret://name (repeatable)', collect)
    .option(
      '--allow <permissions>',
      'permissions of the program, or of all programs of a file: network, home, paths (comma-separated)',
      choices(PERMISSION),
    )
    .option('--tool <pattern>', 'tool to take, by name or pattern; by default all (repeatable)', collect)
    .option('--deny-tool <pattern>', 'tool not to take, by name or pattern (repeatable)', collect)
    .option('--trust <level>', 'trust level: vendor, org, community, user or inferred', choice(TRUST))
    .option('--timeout <ms>', 'timeout of a call in milliseconds', integer(100, 600_000))
    .addHelpText(
      'after',
      `
Examples:
  $ capstan mcp add files --allow network,home -- npx server /data
  $ capstan mcp add docs https://docs.example.com/mcp
  $ capstan mcp add io.github.acme/files
  $ capstan mcp add mcp.json --allow network,home`,
    )
    .action((name: string | undefined, words: string[], options: AddOptions, command: Command) =>
      cli.run(command, (session) => {
        const file = options.file ?? (words.length === 0 && isFile(name) ? name : undefined);
        return file === undefined ? add(session, toMcpServer(name, words, options)) : addFile(session, file, options);
      }),
    );
  mcp
    .command('login')
    .description('log in to an MCP server in a browser')
    .argument('<name>', 'server name')
    .option('--me', 'log in for your own calls only, not the whole tenant')
    .action((name: string, options: { me?: boolean }, command: Command) =>
      cli.run(command, (session) => login(session, name, options.me ? 'actor' : 'tenant')),
    );
  mcp
    .command('accept')
    .description('accept changed tools')
    .argument('<name...>', 'server names')
    .option('--found-until <time>', 'only changes found by then; `mcp changes` shows the time')
    .action((names: string[], { foundUntil }: { foundUntil?: string }, command: Command) =>
      cli.run(command, async (session) => {
        for (const name of names) await accept(session, name, foundUntil);
        return EXIT.success;
      }),
    );
  for (const [verb, description, act] of ACTS)
    mcp
      .command(verb)
      .description(description)
      .argument('<name...>', 'server names')
      .action((names: string[], _options: object, command: Command) =>
        cli.run(command, async (session) => {
          for (const name of names) await act(session, name);
          return EXIT.success;
        }),
      );
};

type Act = (session: Session, name: string) => Promise<void>;

const ACTS: [verb: string, description: string, act: Act][] = [
  [
    'refresh',
    'rediscover the tools of servers',
    async (session, name) => show(session, await (await session.client()).mcpServers.refresh(name)),
  ],
  ['changes', 'show tools that changed since they were accepted', changes],
  [
    'logout',
    'delete the saved login of servers',
    async (session, name) => {
      await (await session.client()).mcpServers.logout(name);
      await session.out.line(`${session.out.colors.green('✓')} logged out of ${name}`);
    },
  ],
  ['enable', 'enable servers and their tools', (session, name) => change(session, name, true)],
  ['disable', 'disable servers and their tools', (session, name) => change(session, name, false)],
  ['remove', 'remove servers and their tools', remove],
];

async function changes(session: Session, name: string): Promise<void> {
  const { out } = session;
  const items: McpToolChange[] = [];
  for await (const item of (await session.client()).mcpServers.changes(name)) items.push(item);
  if (session.json) return session.printJson({ items, next_cursor: null });
  if (items.length === 0) return out.line(`No tools of ${name} have changed.`);
  for (const item of items) for (const line of formatToolChange(item, out.colors)) await out.line(line);
  const last = items.reduce((latest, { found_at }) => (found_at > latest ? found_at : latest), '');
  await out.line(`Accept them with \`capstan mcp accept ${name} --found-until ${last}\`.`);
}

async function accept(session: Session, name: string, found_until: string | undefined): Promise<void> {
  const server = await (await session.client()).mcpServers.accept(name, undefined, found_until);
  await show(session, server);
  if (server.changed.length > 0 && !session.json)
    await session.out.line(`Changed since then: ${server.changed.join(', ')}. See \`capstan mcp changes ${name}\`.`);
}

/** Long enough to find a second factor. */
const LOGIN_MS = 600_000;
const POLL_MS = 1000;

/** On a terminal, waits until the login in the browser is complete. */
async function login(session: Session, name: string, per: 'tenant' | 'actor'): Promise<ExitCode> {
  const { out } = session;
  const { mcpServers } = await session.client();
  const answer = await mcpServers.login(name, per);
  if (session.json) await session.printJson(answer);
  else if (answer.authorized) await out.line(`${out.colors.green('✓')} logged in to ${name}`);
  else await out.line(`Open this URL in a browser to log in to ${name}:\n\n  ${answer.authorization_url}\n`);
  if (session.json || answer.authorized || !out.tty) return EXIT.success;
  const before = (await mcpServers.get(name)).last_discovery;
  for (let waited_ms = 0; waited_ms < LOGIN_MS; waited_ms += POLL_MS) {
    await delay(POLL_MS, undefined, { signal: session.signal });
    const server = await mcpServers.get(name);
    // A completed login starts a new discovery.
    if (server.last_discovery === before || wantsLogin(server)) continue;
    await show(session, server);
    return exitOf([server]);
  }
  await out.line(`${out.colors.red('✗')} timed out waiting for the login to ${name}`);
  return EXIT.failed;
}

const wantsLogin = ({ last_error }: McpServer): boolean => last_error?.includes('capstan mcp login') === true;

async function change(session: Session, name: string, enabled: boolean): Promise<void> {
  await show(session, await (await session.client()).mcpServers.change(name, { enabled }));
}

async function remove(session: Session, name: string): Promise<void> {
  await (await session.client()).mcpServers.delete(name);
  await printDone(session, { name, deleted: true }, `${name} removed`);
}

const add = async (session: Session, server: NewMcpServer | RegistryServer): Promise<ExitCode> => {
  const added = await (await session.client()).mcpServers.add(server);
  if (wantsLogin(added) && session.out.tty && !session.json) return login(session, added.name, 'tenant');
  await show(session, added);
  return exitOf([added]);
};

const addFile = async (session: Session, file: string, options: AddOptions): Promise<ExitCode> => {
  const mcp_file = withOptions(parseMcpFile(await readTextFile(session, file), file), options);
  const { items } = await (await session.client()).mcpServers.addFile(mcp_file);
  for (const server of items) await show(session, server);
  return exitOf(items);
};

/** A failing server is registered too, but a script must learn that its tools are not available. */
const exitOf = (servers: McpServer[]): ExitCode =>
  servers.some(({ status }) => status === 'failing') ? EXIT.failed : EXIT.success;

async function show(session: Session, server: McpServer): Promise<void> {
  const { out } = session;
  if (session.json) return session.printJson(server);
  if (server.status === 'failing') {
    await out.line(`${out.colors.red('✗')} ${server.name} is failing: ${server.last_error ?? 'no reason given'}`);
    return session.err.line(
      session.err.colors.dim(
        `  Try again: capstan mcp refresh ${server.name} · Remove it: capstan mcp remove ${server.name}`,
      ),
    );
  }
  await out.line(`${out.colors.green('✓')} ${server.name} is ${server.status}, ${countOf(server.tools, 'tool')}`);
}

const printServers = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const { colors } = session.out;
  const paint = { ready: colors.green, failing: colors.red, pending: colors.yellow, disabled: colors.dim };
  await printItems<McpServer>(session, client.mcpServers.list(), {
    empty: 'No MCP servers. Add one with `capstan mcp add <name> <url>`, or several with `capstan mcp add mcp.json`.',
    columns: [
      { title: 'SERVER', text: ({ name }) => name },
      { title: 'STATUS', text: ({ status }) => status, paint: (text, { status }) => paint[status](text) },
      { title: 'TOOLS', text: ({ tools }) => String(tools), align: 'right' },
      { title: 'TRUST', text: ({ trust }) => trust },
      {
        title: 'CHECKED',
        text: ({ last_discovery }) => (last_discovery === null ? 'never' : relativeTime(last_discovery, session.now())),
      },
      {
        title: 'TARGET',
        text: ({ last_error, url, command, args }) => last_error ?? url ?? [command, ...args].join(' '),
        shrinks: true,
      },
    ],
  });
  return EXIT.success;
};
