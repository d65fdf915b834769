import type { Key, NewKey, Role } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { parseRoles } from '../parse/words.js';
import { printItems } from '../print-items.js';
import { resolveName } from '../resolve-name.js';
import type { Session } from '../session.js';

type CreateOptions = { tenant: string; actor: string; role: Role[]; pool?: string };

export const addKeys: AddCommand = (program, cli) => {
  const keys = program
    .command('keys')
    .description('the API keys: list, create, delete')
    .action((_options: object, command: Command) => cli.run(command, printKeys));
  keys
    .command('list')
    .description('every key, without the secret itself')
    .action((_options: object, command: Command) => cli.run(command, printKeys));
  keys
    .command('create')
    .description('a new key; it is shown this once')
    .requiredOption('--actor <name>', 'who uses it')
    .requiredOption(
      '--role <roles>',
      'submit, operate, audit, scale, admin (several with commas), or serve',
      parseRoles,
    )
    .option('--tenant <name>', 'whose rows it sees', 'default')
    .option('--pool <name>', 'with --role serve: the pool that it serves, and nothing else')
    .action(({ tenant, actor, role, pool }: CreateOptions, command: Command) =>
      cli.run(command, (session) =>
        createKey(session, { tenant, actor, roles: role, ...(pool === undefined ? {} : { pool }) }),
      ),
    );
  keys
    .command('delete')
    .description('end keys at once')
    .argument('<key...>', 'their ids, or the actor of an only key')
    .action((ids: string[], _options: object, command: Command) =>
      cli.run(command, (session) => deleteKeys(session, ids)),
    );
};

const printKeys = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<Key>(session, client.keys.list(), {
    empty: 'There are no keys. Create one with `capstan keys create --actor ci --role submit`.',
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
  // The key alone on stdout, so that `KEY=$(capstan keys create …)` is all it takes.
  await err.line(`${err.colors.green('✓')} ${created.key_id} for ${created.actor} (${created.roles.join(', ')})`);
  await out.line(created.key);
  await err.line(err.colors.dim('  Keep it now: it is stored hashed and never shown again.'));
  return EXIT.success;
};

const deleteKeys = async (session: Session, ids: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  for (const named of ids) {
    const key_id = await resolveName(session, 'key', named);
    await client.keys.delete(key_id);
    if (session.json) await session.printJson({ key_id, deleted: true });
    else await session.out.line(`${session.out.colors.green('✓')} ${key_id} deleted`);
  }
  return EXIT.success;
};
