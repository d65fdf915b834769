import { resolve } from 'node:path';
import type { InstalledExtension } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { newExtension } from '../extension/new-extension.js';
import { readExtension } from '../extension/read-extension.js';
import { formatChanges } from '../format/changes.js';
import { printDone } from '../print-done.js';
import { printItems } from '../print-items.js';
import { reportError } from '../report-error.js';
import type { Session } from '../session.js';
import { nextChangeIn } from '../watch-folder.js';

export const addExtension: AddCommand = (program, cli) => {
  const extension = program
    .command('extension')
    .description('manage extensions, which bring tools and slash commands')
    .action((_options: object, command: Command) => cli.run(command, printExtensions));
  extension
    .command('list')
    .description('list installed extensions')
    .action((_options: object, command: Command) => cli.run(command, printExtensions));
  extension
    .command('init')
    .description('create an extension with an example tool')
    .argument('<folder>', 'new or empty folder; its name becomes the extension id')
    .action((folder: string, _options: object, command: Command) =>
      cli.run(command, (session) => init(session, folder)),
    );
  extension
    .command('add')
    .description('install or update an extension from a folder')
    .argument('<folder...>', 'folder with manifest.json and commands/commands.yaml')
    .option('--watch', 'install again whenever a file changes, until Ctrl-C')
    .action((folders: string[], { watch }: { watch?: boolean }, command: Command) =>
      cli.run(command, (session) =>
        watch ? addAndWatch(session, folders) : forEach(folders, (folder) => add(session, folder)),
      ),
    );
  for (const [verb, description, act] of ACTS)
    extension
      .command(verb)
      .description(description)
      .argument('<extension_id...>', 'extension ids')
      .action((ids: string[], _options: object, command: Command) =>
        cli.run(command, (session) => forEach(ids, (id) => act(session, id))),
      );
};

type Act = (session: Session, extension_id: string) => Promise<void>;

const ACTS: [verb: string, description: string, act: Act][] = [
  ['enable', 'enable extensions and their tools', (session, id) => change(session, id, true)],
  ['disable', 'disable extensions and their tools', (session, id) => change(session, id, false)],
  ['remove', 'remove extensions and their tools', (session, id) => remove(session, id)],
];

const forEach = async (names: readonly string[], act: (name: string) => Promise<void>): Promise<ExitCode> => {
  for (const name of names) await act(name);
  return EXIT.success;
};

const printExtensions = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const { colors } = session.out;
  await printItems<InstalledExtension>(session, client.extensions.list(), {
    empty: 'No extensions. Add one with `capstan extension add <folder>`.',
    columns: [
      { title: 'EXTENSION', text: ({ extension_id }) => extension_id },
      { title: 'VERSION', text: ({ version }) => version },
      {
        title: 'STATE',
        text: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
        paint: (text, { enabled }) => (enabled ? colors.green(text) : colors.dim(text)),
      },
      { title: 'TOOLS', text: ({ tools }) => String(tools.length), align: 'right' },
      { title: 'COMMANDS', text: ({ commands }) => commands.join(' ') },
      { title: 'DESCRIPTION', text: ({ description }) => description, shrinks: true },
    ],
  });
  return EXIT.success;
};

const init = async (session: Session, folder: string): Promise<ExitCode> => {
  const { id, files } = await newExtension(session.cwd, folder);
  if (session.json) {
    await session.printJson({ extension_id: id, files });
    return EXIT.success;
  }
  const { out } = session;
  await out.line(`${out.colors.green('✓')} ${id}`);
  await out.line(out.colors.dim(files.map((file) => `  ${folder}/${file}`).join('\n')));
  await out.line(
    `  → Run \`capstan extension add ${folder} --watch\`, then \`capstan invoke ext:${id}:greet name=Ada\`.`,
  );
  return EXIT.success;
};

/** Reports errors and keeps watching, so that they can be fixed. */
const addAndWatch = async (session: Session, folders: readonly string[]): Promise<ExitCode> => {
  const { err, signal } = session;
  const paths = folders.map((folder) => resolve(session.cwd, folder));
  for (;;) {
    const changed = nextChangeIn(paths, signal);
    await forEach(folders, (folder) => add(session, folder)).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return reportError(error, session);
    });
    await err.line(err.colors.dim(`Watching ${folders.join(', ')} for changes.`));
    await changed;
    signal.throwIfAborted();
  }
};

const add = async (session: Session, folder: string): Promise<void> => {
  const extension = await readExtension(session.cwd, folder);
  const client = await session.client();
  const installed = await client.extensions.install(extension);
  if (session.json) return session.printJson(installed);
  const { out } = session;
  await out.line(
    `${out.colors.green('✓')} ${installed.extension_id} ${installed.version}: ${formatChanges(installed.changes)}`,
  );
  await out.line(out.colors.dim(installed.tools.map((tool_id) => `  ${tool_id}`).join('\n')));
};

const change = async (session: Session, extension_id: string, enabled: boolean): Promise<void> => {
  const client = await session.client();
  const extension = await client.extensions.enable(extension_id, enabled);
  await printDone(session, extension, `${extension_id} ${enabled ? 'enabled' : 'disabled'}`);
};

const remove = async (session: Session, extension_id: string): Promise<void> => {
  const client = await session.client();
  await client.extensions.remove(extension_id);
  await printDone(session, { extension_id, removed: true }, `${extension_id} removed`);
};
