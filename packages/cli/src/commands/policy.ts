import type { PolicyVersion } from '@capstan/contracts';
import { type Command, Option } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { integer } from '../parse/integer.js';
import { addRule, EFFECTS, RISKS, type RuleOptions } from '../policy/add-rule.js';
import { editPolicy } from '../policy/edit-policy.js';
import { putPolicy } from '../policy/put-policy.js';
import { printItems } from '../print-items.js';
import { readPolicyFile } from '../read-policy-file.js';
import type { Session } from '../session.js';

const DEFAULT_NAME = 'default';
const MAX_VERSION = 2_147_483_647;
const MAX_APPROVALS = 100;

type Change = { name: string; yes?: boolean };

export const addPolicy: AddCommand = (program, cli) => {
  const policy = program.command('policy').description('read and change a policy, list its versions, roll back');
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
    .description('a new version from a file of YAML or JSON; on a terminal it shows what changes and asks')
    .argument('<file>', 'the file; - is stdin')
    .option('--name <name>', 'the policy', DEFAULT_NAME)
    .option('-y, --yes', 'do not ask')
    .action((file: string, { name, yes }: Change, command: Command) =>
      cli.run(command, async (session) => putPolicy(session, name, await readPolicyFile(session, file), { yes })),
    );
  policy
    .command('edit')
    .description('open the version in force in $VISUAL or $EDITOR and put what was changed')
    .argument('[name]', 'the policy', DEFAULT_NAME)
    .option('-y, --yes', 'do not ask')
    .action((name: string, { yes }: Change, command: Command) =>
      cli.run(command, (session) => editPolicy(session, name, { yes })),
    );
  policy
    .command('add-rule')
    .description('add a rule to the version in force')
    .argument('<id>', 'the name of the rule')
    .addOption(new Option('--effect <effect>', 'what it does').choices(EFFECTS).makeOptionMandatory())
    .requiredOption('--tool <glob...>', 'the tools it is about, with * and ?')
    .addOption(new Option('--risk-max <risk>', 'of this risk at most').choices(RISKS))
    .addOption(new Option('--risk-min <risk>', 'of this risk at least').choices(RISKS))
    .option('--actor <glob...>', 'asked for by them')
    .option('--if <expression>', 'only where this CEL expression is true, such as inputs.amount < 100')
    .option('--approvals <n>', 'how many people must agree to what it holds', integer(1, MAX_APPROVALS))
    .option('--reason <text>', 'shown with each decision')
    .option('--name <name>', 'the policy', DEFAULT_NAME)
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      `
Examples:
  $ capstan policy add-rule read-web --effect allow --tool api.request --risk-max MED
  $ capstan policy add-rule refunds --effect hold --tool 'ext:billing:*' --approvals 2`,
    )
    .action((id: string, { name, yes, ...rule }: Change & RuleOptions, command: Command) =>
      cli.run(command, async (session) => putPolicy(session, name, await addRule(session, name, id, rule), { yes })),
    );
  policy
    .command('rollback')
    .description('put an earlier version again, as a new version')
    .argument('<version>', 'its number: see `capstan policy list`', integer(1, MAX_VERSION))
    .option('--name <name>', 'the policy', DEFAULT_NAME)
    .option('-y, --yes', 'do not ask')
    .action((version: number, { name, yes }: Change, command: Command) =>
      cli.run(command, async (session) => {
        const { policies } = await session.client();
        return putPolicy(session, name, (await policies.get(name, { version })).document, { yes });
      }),
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
