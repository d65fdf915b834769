import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Secret } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { printItems } from '../print-items.js';
import { readStdin } from '../read-stdin.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type Scope = { tenant?: string };
type PutOptions = Scope & { file?: string; tool?: string[]; host?: string[] };

export const addSecret: AddCommand = (program, cli) => {
  const secret = program
    .command('secret')
    .description('the secrets that tools use as secret://name: list, put, delete')
    .action((_options: object, command: Command) => cli.run(command, (session) => printSecrets(session, {})));
  secret
    .command('list')
    .description('every name; values are never shown')
    .option('--tenant <name>', 'another tenant than your own')
    .action((scope: Scope, command: Command) => cli.run(command, (session) => printSecrets(session, scope)));
  secret
    .command('put')
    // Never as an argument: the list of processes shows those.
    .description('keep a value, read from stdin or from a file')
    .argument('<name>')
    .option('--file <path>', 'read the value from this file')
    .option('--tool <id...>', 'only these tools may use it; * stands for any characters, and alone for all tools')
    .option('--host <name...>', 'only to these hosts may it be sent; *.example.com has all below it, * is everywhere')
    .option('--tenant <name>', 'another tenant than your own')
    .action((name: string, options: PutOptions, command: Command) =>
      cli.run(command, (session) => putSecret(session, name, options)),
    );
  secret
    .command('delete')
    .description('forget secrets')
    .argument('<name...>')
    .option('--tenant <name>', 'another tenant than your own')
    .action((names: string[], scope: Scope, command: Command) =>
      cli.run(command, (session) => deleteSecrets(session, names, scope)),
    );
  secret
    .command('rewrap')
    .description('encrypt all of them with the first key of CAPSTAN_SECRETS_KEY')
    .action((_options: object, command: Command) => cli.run(command, rewrap));
};

const printSecrets = async (session: Session, scope: Scope): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<Secret>(session, client.secrets.list(scope), {
    empty: 'There are no secrets. Keep one with `capstan secret put github_token < token.txt`.',
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
  const text = file === undefined ? await readStdin(session) : await readValue(session, file);
  // The newline that echo and editors add is no part of it.
  const value = text.replace(/\r?\n$/, '');
  if (value === '') throw new UsageError('the value is empty; give it on stdin or with --file');
  const client = await session.client();
  const kept = await client.secrets.put(
    name,
    { value, ...(tool && { tools: listOf(tool) }), ...(host && { hosts: listOf(host) }) },
    scope,
  );
  if (session.json) await session.printJson(kept);
  else await session.out.line(`${session.out.colors.green('✓')} secret://${kept.name} is kept for ${kept.tenant}`);
  return EXIT.success;
};

/** A list is taken away by naming everything. */
const listOf = (names: string[]): string[] | null => (names.includes('*') ? null : names);

const readValue = (session: Session, file: string): Promise<string> =>
  readFile(resolve(session.cwd, file), 'utf8').catch((error: unknown) => {
    throw new UsageError(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  });

const deleteSecrets = async (session: Session, names: readonly string[], scope: Scope): Promise<ExitCode> => {
  const client = await session.client();
  for (const name of names) {
    await client.secrets.delete(name, scope);
    if (session.json) await session.printJson({ name, deleted: true });
    else await session.out.line(`${session.out.colors.green('✓')} ${name} deleted`);
  }
  return EXIT.success;
};

const rewrap = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const done = await client.secrets.rewrap();
  if (session.json) await session.printJson(done);
  else await session.out.line(`${session.out.colors.green('✓')} ${done.rewrapped} encrypted anew`);
  return EXIT.success;
};
