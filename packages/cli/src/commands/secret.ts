import type { Secret } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { countOf } from '../format/count.js';
import { relativeTime } from '../format/relative-time.js';
import { printDone } from '../print-done.js';
import { printItems } from '../print-items.js';
import { readSecret } from '../profile/read-secret.js';
import { readTextFile } from '../read-text-file.js';
import { removeEach } from '../remove-each.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type Scope = { tenant?: string };
type PutOptions = Scope & { file?: string; tool?: string[]; host?: string[] };

export const addSecret: AddCommand = (program, cli) => {
  const secret = program
    .command('secret')
    .description('manage secrets, which tools use as secret://name')
    .action((_options: object, command: Command) => cli.run(command, (session) => printSecrets(session, {})));
  secret
    .command('list')
    .description('list secrets; values are never shown')
    .option('--tenant <name>', 'tenant; by default your own')
    .action((scope: Scope, command: Command) => cli.run(command, (session) => printSecrets(session, scope)));
  secret
    .command('put')
    // Never as an argument: other users see those in the process list.
    .description('store a secret, read from stdin or a file')
    .argument('<name>', 'secret name')
    .option('--file <path>', 'read the value from this file')
    .option('--tool <id...>', 'tools that may use it; * matches any characters, * alone means all tools')
    .option('--host <name...>', 'hosts it may be sent to; *.example.com includes subdomains, * means any host')
    .option('--tenant <name>', 'tenant; by default your own')
    .action((name: string, options: PutOptions, command: Command) =>
      cli.run(command, (session) => putSecret(session, name, options)),
    );
  secret
    .command('delete')
    .description('delete secrets')
    .argument('<name...>', 'secret names')
    .option('--tenant <name>', 'tenant; by default your own')
    .action((names: string[], scope: Scope, command: Command) =>
      cli.run(command, (session) => deleteSecrets(session, names, scope)),
    );
  secret
    .command('rewrap')
    .description('re-encrypt all secrets with the first key in CAPSTAN_SECRETS_KEY')
    .action((_options: object, command: Command) => cli.run(command, rewrap));
};

const printSecrets = async (session: Session, scope: Scope): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<Secret>(session, client.secrets.list(scope), {
    empty: 'There are no secrets. Store one with `capstan secret put github_token < token.txt`.',
    columns: [
      { title: 'SECRET', text: ({ name }) => name, shrinks: true },
      { title: 'TENANT', text: ({ tenant }) => tenant },
      { title: 'TOOLS', text: ({ tools }) => tools?.join(', ') ?? '*', shrinks: true },
      { title: 'HOSTS', text: ({ hosts }) => hosts?.join(', ') ?? '*', shrinks: true },
      { title: 'KEY', text: ({ key_id }) => key_id },
      { title: 'BY', text: ({ updated_by }) => updated_by },
      { title: 'UPDATED', text: ({ updated_at }) => relativeTime(updated_at, session.now()) },
    ],
  });
  return EXIT.success;
};

const putSecret = async (
  session: Session,
  name: string,
  { file, tool, host, ...scope }: PutOptions,
): Promise<ExitCode> => {
  const text = file === undefined ? await readSecret(session, `Value of ${name}: `) : await readTextFile(session, file);
  // echo and editors add a newline that is not part of the value.
  const value = text.replace(/\r?\n$/, '');
  if (value === '') throw new UsageError('the value is empty', 'Pipe it in, or name a file with --file.');
  const client = await session.client();
  const stored = await client.secrets.put(
    name,
    { value, ...(tool && { tools: restrictionOf(tool) }), ...(host && { hosts: restrictionOf(host) }) },
    scope,
  );
  await printDone(session, stored, `secret://${stored.name} stored for tenant ${stored.tenant}`);
  return EXIT.success;
};

/** `*` removes the restriction. */
const restrictionOf = (names: string[]): string[] | null => (names.includes('*') ? null : names);

const deleteSecrets = async (session: Session, names: readonly string[], scope: Scope): Promise<ExitCode> => {
  const client = await session.client();
  return removeEach(session, names, {
    field: 'name',
    done: 'deleted',
    remove: (name) => client.secrets.delete(name, scope),
  });
};

const rewrap = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const done = await client.secrets.rewrap();
  await printDone(session, done, `${countOf(done.rewrapped, 'secret')} re-encrypted`);
  return EXIT.success;
};
