import type { NewToolsetInput, Toolset } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { printItems } from '../print-items.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type PutOptions = {
  tool: string[];
  server: string[];
  label: string[];
  title?: string;
  description?: string;
  plain?: boolean;
  search?: boolean;
};

const collect = (value: string, before: string[]): string[] => [...before, value];

export const addToolset: AddCommand = (program, cli) => {
  const toolset = program
    .command('toolset')
    .description('named choices of tools, each an MCP server at /mcp/<name>: list, put, remove')
    .action((_options: object, command: Command) => cli.run(command, print));
  toolset
    .command('list')
    .description('every toolset')
    .action((_options: object, command: Command) => cli.run(command, print));
  toolset
    .command('put')
    .description('create a toolset, or replace the one of that name')
    .argument('<name>')
    .option('--tool <pattern>', 'a tool by its id, or a pattern: mcp:files:*; all by default', collect, [])
    .option('--server <name>', 'an MCP server whose prompts and resources belong to it', collect, [])
    .option('--label <key=value>', 'put on every call made through it', collect, [])
    .option('--title <text>', 'what it is called')
    .option('--description <text>', 'what clients are told of it')
    .option('--plain', 'tools of MCP servers under the names that their servers gave them')
    .option('--search', 'list a tool that finds the others instead of all of them')
    .action((name: string, options: PutOptions, command: Command) =>
      cli.run(command, (session) => put(session, name, options)),
    );
  toolset
    .command('remove')
    .description('remove toolsets; their tools stay')
    .argument('<name...>')
    .action((names: string[], _options: object, command: Command) =>
      cli.run(command, async (session) => {
        const { toolsets } = await session.client();
        for (const name of names) await toolsets.delete(name);
        return EXIT.success;
      }),
    );
};

async function put(session: Session, name: string, options: PutOptions): Promise<ExitCode> {
  const { tool, server, label, title, description, plain, search } = options;
  const wanted: NewToolsetInput = {
    ...{ name, servers: server, labels: Object.fromEntries(label.map(pair)) },
    ...(tool.length > 0 ? { tools: tool } : {}),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(plain ? { names: 'plain' } : {}),
    ...(search ? { search } : {}),
  };
  const { toolsets } = await session.client();
  const made = await toolsets.put(wanted);
  if (session.json) await session.printJson(made);
  else await session.out.line(`${session.out.colors.green('✓')} ${made.name} is served at /mcp/${made.name}`);
  return EXIT.success;
}

function pair(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--label ${text}`, 'Give labels as key=value.');
  return [text.slice(0, at), text.slice(at + 1)];
}

const print = async (session: Session): Promise<ExitCode> => {
  const { toolsets } = await session.client();
  await printItems<Toolset>(session, toolsets.list(), {
    empty: 'There are no toolsets. Create one with `capstan toolset put <name> --tool <pattern>`.',
    columns: [
      { title: 'TOOLSET', text: ({ name }) => name },
      { title: 'AT', text: ({ name }) => `/mcp/${name}` },
      { title: 'SERVERS', text: ({ servers }) => servers.join(' ') },
      { title: 'TOOLS', text: ({ tools }) => tools.join(' '), shrinks: true },
    ],
  });
  return EXIT.success;
};
