import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readStdin } from '../read-stdin.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

const DEFAULT_NAME = 'default';

export const addPolicy: AddCommand = (program, cli) => {
  const policy = program.command('policy').description('read a policy, or put a new version of it');
  policy
    .command('get', { isDefault: true })
    .description('the version in force; the document on stdout, so that it can be edited and put')
    .argument('[name]', 'the policy', DEFAULT_NAME)
    .action((name: string, _options: object, command: Command) =>
      cli.run(command, (session) => getPolicy(session, name)),
    );
  policy
    .command('put')
    .description('a new version from a file of YAML or JSON; - is stdin')
    .argument('<file>')
    .option('--name <name>', 'the policy', DEFAULT_NAME)
    .action((file: string, { name }: { name: string }, command: Command) =>
      cli.run(command, (session) => putPolicy(session, name, file)),
    );
};

const getPolicy = async (session: Session, name: string): Promise<ExitCode> => {
  const client = await session.client();
  const policy = await client.policies.get(name);
  const { out, err } = session;
  if (session.json) {
    await session.printJson(policy);
    return EXIT.success;
  }
  await err.line(err.colors.dim(`${policy.name}, version ${policy.version}, ${policy.policy_hash}`));
  await out.line(JSON.stringify(policy.document, null, 2));
  return EXIT.success;
};

const putPolicy = async (session: Session, name: string, file: string): Promise<ExitCode> => {
  const text = file === '-' ? await readStdin(session) : await readPolicy(session, file);
  const client = await session.client();
  const policy = await client.policies.put(name, parseJson(text) ?? text);
  if (session.json) await session.printJson(policy);
  else await session.out.line(`${session.out.colors.green('✓')} ${policy.name} is now version ${policy.version}`);
  return EXIT.success;
};

const readPolicy = (session: Session, file: string): Promise<string> =>
  readFile(resolve(session.cwd, file), 'utf8').catch((error: unknown) => {
    throw new UsageError(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  });

/** Null when it is no JSON object; then it is YAML, and the gateway says what is wrong with it. */
const parseJson = (text: string): object | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
};
