import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { McpFile, McpPermission, McpServer, McpToolChange, NewMcpServer } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { choice, choices } from '../parse/choice.js';
import { integer } from '../parse/integer.js';
import { printItems } from '../print-items.js';
import { readStdin } from '../read-stdin.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type AddOptions = {
  file?: string;
  header: string[];
  env: string[];
  allow?: McpPermission[];
  trust?: McpTrust;
  timeout?: number;
};
type McpTrust = NonNullable<NewMcpServer['trust']>;

/** The words of the contracts; their schemas would load zod into every start of the command. */
const TRUST: Record<McpTrust, true> = { vendor: true, org: true, community: true, user: true, inferred: true };
const PERMISSION: Record<McpPermission, true> = { network: true, home: true, paths: true };

const collect = (value: string, before: string[]): string[] => [...before, value];

export const addMcp: AddCommand = (program, cli) => {
  const mcp = program
    .command('mcp')
    .description(
      'MCP servers as a source of tools: list, add, refresh, changes, accept, login, logout, enable, disable, remove',
    )
    .action((_options: object, command: Command) => cli.run(command, printServers));
  mcp
    .command('list')
    .description('every server, with how it is')
    .action((_options: object, command: Command) => cli.run(command, printServers));
  mcp
    .command('add')
    .description('a server: `add files -- npx server /data`, `add docs https://…`, or `add --file mcp.json`')
    .argument('[name]', 'what its tools are called by: mcp:<name>:<tool>')
    .argument('[what...]', 'its URL (streamable HTTP), or after -- the program to start and its arguments')
    .option('--file <mcp.json>', 'all servers of a file as other clients keep it; - is stdin')
    .option('--header <name=value>', 'a header to send; secret://name in a value is a secret', collect, [])
    .option('--env <name=value>', 'a variable of the program; secret://name is a secret', collect, [])
    .option('--allow <permissions>', 'of the program: network, home, paths', choices(PERMISSION))
    .option('--trust <level>', 'vendor, org, community, user or inferred', choice(TRUST))
    .option('--timeout <ms>', 'for one call', integer(100, 600_000))
    .action((name: string | undefined, words: string[], options: AddOptions, command: Command) =>
      cli.run(command, (session) =>
        options.file === undefined ? add(session, toServer(name, words, options)) : addFile(session, options.file),
      ),
    );
  for (const [verb, description, act] of ACTS)
    mcp
      .command(verb)
      .description(description)
      .argument('<name...>')
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
    'look for tools again',
    async (session, name) => show(session, await (await session.client()).mcpServers.refresh(name)),
  ],
  ['changes', 'show tools whose description changed since they were taken', changes],
  ['accept', 'take changed tools as they are now', accept],
  ['login', 'log in to it in a browser', login],
  [
    'logout',
    'forget the login',
    async (session, name) => {
      await (await session.client()).mcpServers.logout(name);
      await session.out.line(`${session.out.colors.green('✓')} logged out of ${name}`);
    },
  ],
  ['enable', 'bring its tools back', (session, name) => change(session, name, true)],
  ['disable', 'keep it, without its tools', (session, name) => change(session, name, false)],
  ['remove', 'forget it and its tools', remove],
];

async function changes(session: Session, name: string): Promise<void> {
  const { out } = session;
  const items: McpToolChange[] = [];
  for await (const item of (await session.client()).mcpServers.changes(name)) items.push(item);
  if (session.json) return session.printJson({ items, next_cursor: null });
  if (items.length === 0) return out.line(`Nothing has changed at ${name}.`);
  for (const { tool_id, before, after } of items) {
    await out.line(tool_id);
    for (const field of ['description', 'input_schema', 'output_schema'] as const) {
      const [was, is] = [JSON.stringify(before[field]), JSON.stringify(after[field])];
      if (was === is) continue;
      await out.line(`  ${field}\n  ${out.colors.red(`- ${was}`)}\n  ${out.colors.green(`+ ${is}`)}`);
    }
  }
  await out.line(`Take them with: capstan mcp accept ${name}`);
}

async function accept(session: Session, name: string): Promise<void> {
  await show(session, await (await session.client()).mcpServers.accept(name));
}

async function login(session: Session, name: string): Promise<void> {
  const answer = await (await session.client()).mcpServers.login(name);
  if (session.json) return session.printJson(answer);
  const { out } = session;
  if (answer.authorized) return out.line(`${out.colors.green('✓')} logged in to ${name}`);
  await out.line(`Open this in a browser to log in to ${name}:\n\n  ${answer.authorization_url}\n`);
}

async function change(session: Session, name: string, enabled: boolean): Promise<void> {
  await show(session, await (await session.client()).mcpServers.change(name, { enabled }));
}

async function remove(session: Session, name: string): Promise<void> {
  await (await session.client()).mcpServers.delete(name);
  if (session.json) await session.printJson({ name, deleted: true });
  else await session.out.line(`${session.out.colors.green('✓')} ${name} removed`);
}

const add = async (session: Session, server: NewMcpServer): Promise<ExitCode> => {
  const added = await (await session.client()).mcpServers.add(server);
  await show(session, added);
  return exitOf([added]);
};

const addFile = async (session: Session, file: string): Promise<ExitCode> => {
  const text = file === '-' ? await readStdin(session) : await read(session, file);
  const { items } = await (await session.client()).mcpServers.addFile(parse(text, file));
  for (const server of items) await show(session, server);
  return exitOf(items);
};

/** It is registered either way; a script should know that its tools are not there yet. */
const exitOf = (servers: McpServer[]): ExitCode =>
  servers.some(({ status }) => status === 'failing') ? EXIT.failed : EXIT.success;

function toServer(name: string | undefined, [program, ...args]: string[], options: AddOptions): NewMcpServer {
  if (name === undefined)
    throw new UsageError('give a name and a URL, or a name and a program after --, or --file mcp.json');
  const common = {
    name,
    ...(options.trust === undefined ? {} : { trust: options.trust }),
    ...(options.timeout === undefined ? {} : { timeout_ms: options.timeout }),
  };
  if (program === undefined) throw new UsageError(`what is ${name}? Give its URL, or a program after --`);
  if (/^https?:\/\//i.test(program))
    return { ...common, url: program, ...(options.header.length > 0 ? { headers: pairs(options.header) } : {}) };
  return {
    ...common,
    command: program,
    args,
    ...(options.env.length > 0 ? { env: pairs(options.env) } : {}),
    ...(options.allow === undefined ? {} : { permissions: options.allow }),
  };
}

function pairs(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((pair): [string, string] => {
      const at = pair.search(/[=:]/);
      if (at < 1) throw new UsageError(`${pair}: expected name=value`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}

const read = (session: Session, file: string): Promise<string> =>
  readFile(resolve(session.cwd, file), 'utf8').catch((error: unknown) => {
    throw new UsageError(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  });

function parse(text: string, file: string): McpFile {
  try {
    const value: unknown = JSON.parse(text);
    // The gateway says what is wrong with the rest of it.
    const servers = typeof value === 'object' && value !== null ? serversIn(value) : undefined;
    if (servers !== undefined) return { mcpServers: servers } as McpFile;
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  throw new UsageError(`${file} has no "mcpServers"`);
}

/** Clients agree on what a server is, and not on the name of the list. */
const serversIn = (file: object): unknown =>
  ['mcpServers', 'servers', 'context_servers'].flatMap((name) => (name in file ? [Reflect.get(file, name)] : []))[0];

async function show(session: Session, server: McpServer): Promise<void> {
  const { out } = session;
  if (session.json) return session.printJson(server);
  const tools = `${server.tools} tool${server.tools === 1 ? '' : 's'}`;
  if (server.status === 'failing')
    return out.line(`${out.colors.red('✗')} ${server.name} is failing: ${server.last_error ?? 'it gives no reason'}`);
  await out.line(`${out.colors.green('✓')} ${server.name} is ${server.status}, ${tools}`);
}

const printServers = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const { colors } = session.out;
  const paint = { ready: colors.green, failing: colors.red, pending: colors.yellow, disabled: colors.dim };
  await printItems<McpServer>(session, client.mcpServers.list(), {
    empty: 'There are no MCP servers. Add one with `capstan mcp add <name> -- <program>`, or all of `--file mcp.json`.',
    columns: [
      { title: 'SERVER', text: ({ name }) => name },
      { title: 'STATUS', text: ({ status }) => status, paint: (text, { status }) => paint[status](text) },
      { title: 'TOOLS', text: ({ tools }) => String(tools), align: 'right' },
      { title: 'TRUST', text: ({ trust }) => trust },
      {
        title: 'LOOKED AT',
        text: ({ last_discovery }) => (last_discovery === null ? 'never' : relativeTime(last_discovery, session.now())),
      },
      {
        title: 'WHAT',
        text: ({ last_error, url, command, args }) => last_error ?? url ?? [command, ...args].join(' '),
        shrinks: true,
      },
    ],
  });
  return EXIT.success;
};
