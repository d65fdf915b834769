import type { NewToolsetInput, Toolset } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { parseLabel } from '../parse/label.js';
import { printDone } from '../print-done.js';
import { printItems } from '../print-items.js';
import { removeEach } from '../remove-each.js';
import type { Session } from '../session.js';

type PutOptions = {
  tool?: string[];
  server?: string[];
  label?: Record<string, string>;
  title?: string;
  description?: string;
  plain?: boolean;
  search?: boolean;
};

const collect = (value: string, before: string[] = []): string[] => [...before, value];

export const addToolset: AddCommand = (program, cli) => {
  const toolset = program
    .command('toolset')
    .description('manage toolsets: selections of tools served at /mcp/<name>')
    .action((_options: object, command: Command) => cli.run(command, print));
  toolset
    .command('list')
    .description('list toolsets')
    .action((_options: object, command: Command) => cli.run(command, print));
  toolset
    .command('put')
    .description('create or replace a toolset')
    .argument('<name>', 'toolset name')
    .option('--tool <pattern>', 'tool id or pattern like mcp:files:*; by default all tools (repeatable)', collect)
    .option('--server <name>', 'MCP server whose prompts and resources to include (repeatable)', collect)
    .option('--label <key=value>', 'label for every call made through the toolset (repeatable)', parseLabel)
    .option('--title <text>', 'title shown to clients')
    .option('--description <text>', 'description shown to clients')
    .option('--plain', 'use the tool names of the MCP servers unchanged')
    .option('--search', 'offer one search tool instead of all tools')
    .action((name: string, options: PutOptions, command: Command) =>
      cli.run(command, (session) => put(session, name, options)),
    );
  toolset
    .command('remove')
    .description('remove toolsets; the tools themselves stay')
    .argument('<name...>', 'toolset names')
    .action((names: string[], _options: object, command: Command) =>
      cli.run(command, async (session) => {
        const { toolsets } = await session.client();
        return removeEach(session, names, { field: 'name', done: 'removed', remove: (name) => toolsets.delete(name) });
      }),
    );
};

async function put(session: Session, name: string, options: PutOptions): Promise<ExitCode> {
  const { tool, server = [], label = {}, title, description, plain, search } = options;
  const wanted: NewToolsetInput = {
    ...{ name, servers: server, labels: label },
    ...(tool === undefined ? {} : { tools: tool }),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(plain ? { names: 'plain' } : {}),
    ...(search ? { search } : {}),
  };
  const { toolsets } = await session.client();
  const made = await toolsets.put(wanted);
  await printDone(session, made, `${made.name} is served at /mcp/${made.name}`);
  return EXIT.success;
}

const print = async (session: Session): Promise<ExitCode> => {
  const { toolsets } = await session.client();
  await printItems<Toolset>(session, toolsets.list(), {
    empty: 'No toolsets. Create one with `capstan toolset put <name> --tool <pattern>`.',
    columns: [
      { title: 'TOOLSET', text: ({ name }) => name },
      { title: 'AT', text: ({ name }) => `/mcp/${name}` },
      { title: 'SERVERS', text: ({ servers }) => servers.join(' ') },
      { title: 'TOOLS', text: ({ tools }) => tools.join(' '), shrinks: true },
    ],
  });
  return EXIT.success;
};
