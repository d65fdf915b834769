import type { InstalledAtipTool } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { parseJsonObject } from '../parse/json-object.js';
import { printAdded } from '../print-added.js';
import { printItems } from '../print-items.js';
import { readTextFile } from '../read-text-file.js';
import { removeEach } from '../remove-each.js';
import type { Session } from '../session.js';

export const addAtip: AddCommand = (program, cli) => {
  const atip = program
    .command('atip')
    .description('manage ATIP documents, whose commands become tools')
    .action((_options: object, command: Command) => cli.run(command, printDocuments));
  atip
    .command('list')
    .description('list ATIP documents')
    .action((_options: object, command: Command) => cli.run(command, printDocuments));
  atip
    .command('add')
    .description('add a document: its commands become tools')
    .argument('<file>', 'ATIP document as JSON; - for stdin, as in `gh --agent | capstan atip add -`')
    .action((file: string, _options: object, command: Command) => cli.run(command, (session) => add(session, file)));
  atip
    .command('remove')
    .description('remove documents and their tools')
    .argument('<name...>', 'document names')
    .action((names: string[], _options: object, command: Command) =>
      cli.run(command, (session) => remove(session, names)),
    );
};

const printDocuments = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<InstalledAtipTool>(session, client.atipTools.list(), {
    empty: 'No ATIP documents. Add one with `capstan atip add <file>`.',
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
  const document = parseJsonObject(await readTextFile(session, file), file);
  const client = await session.client();
  await printAdded(session, await client.atipTools.add(document));
  return EXIT.success;
};

const remove = async (session: Session, names: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  return removeEach(session, names, {
    field: 'name',
    done: 'removed',
    remove: (name) => client.atipTools.remove(name),
  });
};
