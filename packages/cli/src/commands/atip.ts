import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { InstalledAtipTool } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatChanges } from '../format/changes.js';
import { printItems } from '../print-items.js';
import { readStdin } from '../read-stdin.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

export const addAtip: AddCommand = (program, cli) => {
  const atip = program
    .command('atip')
    .description('ATIP documents as a source of tools: list, add, remove')
    .action((_options: object, command: Command) => cli.run(command, printDocuments));
  atip
    .command('list')
    .description('every document that was added')
    .action((_options: object, command: Command) => cli.run(command, printDocuments));
  atip
    .command('add')
    .description('the commands of a document become tools; - is stdin (`gh --agent | capstan atip add -`)')
    .argument('<file>')
    .action((file: string, _options: object, command: Command) => cli.run(command, (session) => add(session, file)));
  atip
    .command('remove')
    .description('forget documents and their tools')
    .argument('<name...>')
    .action((names: string[], _options: object, command: Command) =>
      cli.run(command, (session) => remove(session, names)),
    );
};

const printDocuments = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<InstalledAtipTool>(session, client.atipTools.list(), {
    empty: 'No ATIP document was added. Add one with `capstan atip add <file>`.',
    columns: [
      { title: 'NAME', text: ({ name }) => name },
      { title: 'VERSION', text: ({ version }) => version },
      { title: 'TRUST', text: ({ trust }) => trust },
      { title: 'TOOLS', text: ({ tools }) => String(tools.length), align: 'right' },
      { title: 'DESCRIPTION', text: ({ description }) => description, shrinks: true },
    ],
  });
  return EXIT.success;
};

const add = async (session: Session, file: string): Promise<ExitCode> => {
  const text = file === '-' ? await readStdin(session) : await read(session, file);
  const client = await session.client();
  const added = await client.atipTools.add(parse(text, file));
  const { out, err } = session;
  if (session.json) await session.printJson(added);
  else await out.line(`${out.colors.green('✓')} ${added.name} ${added.version}: ${formatChanges(added.changes)}`);
  for (const warning of added.warnings) await err.line(err.colors.yellow(`  ${warning}`));
  return EXIT.success;
};

const remove = async (session: Session, names: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  for (const name of names) {
    await client.atipTools.remove(name);
    if (session.json) await session.printJson({ name, removed: true });
    else await session.out.line(`${session.out.colors.green('✓')} ${name} removed`);
  }
  return EXIT.success;
};

const read = (session: Session, file: string): Promise<string> =>
  readFile(resolve(session.cwd, file), 'utf8').catch((error: unknown) => {
    throw new UsageError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  });

const parse = (text: string, file: string): object => {
  try {
    const document: unknown = JSON.parse(text);
    if (typeof document === 'object' && document !== null) return document;
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new UsageError(`${file} is not an ATIP document`);
};
