import type { Key, NewKey, Role } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { parseRoles } from '../parse/words.js';
import { printItems } from '../print-items.js';
import { removeEach } from '../remove-each.js';
import { resolveName } from '../resolve-name.js';
import type { Session } from '../session.js';

type CreateOptions = { tenant: string; actor: string; role: Role[]; pool?: string };

export const addKeys: AddCommand = (program, cli) => {
  const keys = program
    .command('keys')
    .description('manage API keys')
    .action((_options: object, command: Command) => cli.run(command, printKeys));
  keys
    .command('list')
    .description('list keys, without their secrets')
    .action((_options: object, command: Command) => cli.run(command, printKeys));
  keys
    .command('create')
    .description('create a key; its value is shown only once')
    .requiredOption('--actor <name>', 'who the key is for')
    .requiredOption('--role <roles>', 'submit, operate, audit, scale, admin (comma-separated), or serve', parseRoles)
    .option('--tenant <name>', 'tenant of the key', 'default')
    .option('--pool <name>', 'with --role serve: the only pool the key may serve')
    .action(({ tenant, actor, role, pool }: CreateOptions, command: Command) =>
      cli.run(command, (session) =>
        createKey(session, { tenant, actor, roles: role, ...(pool === undefined ? {} : { pool }) }),
      ),
    );
  keys
    .command('delete')
    .description('delete keys; they stop working at once')
    .argument('<key...>', 'key ids, or actors with exactly one key')
    .action((ids: string[], _options: object, command: Command) =>
      cli.run(command, (session) => deleteKeys(session, ids)),
    );
};

const printKeys = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<Key>(session, client.keys.list(), {
    empty: 'No keys. Create one with `capstan keys create --actor ci --role submit`.',
    columns: [
      { title: 'KEY', text: ({ key_id }) => key_id },
      { title: 'TENANT', text: ({ tenant }) => tenant },
      { title: 'ACTOR', text: ({ actor }) => actor, shrinks: true },
      { title: 'ROLES', text: ({ roles }) => roles.join(',') },
      { title: 'CREATED', text: ({ created_at }) => relativeTime(created_at, session.now()) },
    ],
  });
  return EXIT.success;
};

const createKey = async (session: Session, wanted: NewKey): Promise<ExitCode> => {
  const client = await session.client();
  const created = await client.keys.create(wanted);
  const { out, err } = session;
  if (session.json) {
    await session.printJson(created);
    return EXIT.success;
  }
  // Only the key goes to stdout, so that `KEY=$(capstan keys create …)` works.
  await err.line(`${err.colors.green('✓')} ${created.key_id} for ${created.actor} (${created.roles.join(', ')})`);
  await out.line(created.key);
  await err.line(err.colors.dim('  Save it now: only its hash is stored, and it is not shown again.'));
  return EXIT.success;
};

const deleteKeys = async (session: Session, ids: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  return removeEach(session, ids, {
    field: 'key_id',
    done: 'deleted',
    remove: (id) => client.keys.delete(id),
    resolve: (_, text) => resolveName(session, 'key', text),
  });
};
