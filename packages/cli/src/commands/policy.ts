import type { PolicyVersion } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { integer } from '../parse/integer.js';
import { printItems } from '../print-items.js';
import { readPolicyFile } from '../read-policy-file.js';
import type { Session } from '../session.js';

const DEFAULT_NAME = 'default';
const MAX_VERSION = 2_147_483_647;

export const addPolicy: AddCommand = (program, cli) => {
  const policy = program.command('policy').description('read a policy, put a new version of it, list the versions');
  policy
    .command('get', { isDefault: true })
    .description('the version in force as YAML, to be edited and put; with --json all that is known of it')
    .argument('[name]', 'the policy', DEFAULT_NAME)
    .option('--version-number <n>', 'an earlier version', integer(1, MAX_VERSION))
    .action((name: string, { versionNumber }: { versionNumber?: number }, command: Command) =>
      cli.run(command, (session) => getPolicy(session, name, versionNumber)),
    );
  policy
    .command('put')
    .description('a new version from a file of YAML or JSON; - is stdin')
    .argument('<file>')
    .option('--name <name>', 'the policy', DEFAULT_NAME)
    .action((file: string, { name }: { name: string }, command: Command) =>
      cli.run(command, (session) => putPolicy(session, name, file)),
    );
  policy
    .command('list')
    .description('every version of every policy, or of one')
    .argument('[name]', 'the policy')
    .action((name: string | undefined, _options: object, command: Command) =>
      cli.run(command, (session) => listPolicies(session, name)),
    );
};

const getPolicy = async (session: Session, name: string, version: number | undefined): Promise<ExitCode> => {
  const client = await session.client();
  if (session.json) await session.printJson(await client.policies.get(name, { version }));
  else await session.out.write(await client.policies.yaml(name, { version }));
  return EXIT.success;
};

const putPolicy = async (session: Session, name: string, file: string): Promise<ExitCode> => {
  const document = await readPolicyFile(session, file);
  const client = await session.client();
  const policy = await client.policies.put(name, document);
  if (session.json) await session.printJson(policy);
  else await session.out.line(`${session.out.colors.green('✓')} ${policy.name} is now version ${policy.version}`);
  for (const { field, message } of policy.warnings)
    await session.err.line(`${session.err.colors.yellow('warning')} ${field}: ${visibleLine(message)}`);
  return EXIT.success;
};

const listPolicies = async (session: Session, name: string | undefined): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<PolicyVersion>(session, client.policies.versions({ name }), {
    empty: 'There is no such policy. `capstan policy put <file> --name <tenant>` makes one.',
    columns: [
      { title: 'POLICY', text: (policy) => policy.name },
      { title: 'VERSION', text: ({ version }) => String(version), align: 'right' },
      { title: 'HASH', text: ({ policy_hash }) => policy_hash.slice(0, 19), shrinks: true },
      { title: 'BY', text: ({ created_by }) => created_by },
      { title: 'CREATED', text: ({ created_at }) => relativeTime(created_at, session.now()) },
    ],
  });
  return EXIT.success;
};
