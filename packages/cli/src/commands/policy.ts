import type { PolicyVersion } from '@capstan/contracts';
import { type Command, Option } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { integer } from '../parse/integer.js';
import { RISKS } from '../parse/words.js';
import { addRule, EFFECTS, type RuleOptions } from '../policy/add-rule.js';
import { editPolicy } from '../policy/edit-policy.js';
import { type ProposeOptions, proposeRule } from '../policy/propose-rule.js';
import { putPolicy } from '../policy/put-policy.js';
import { printItems } from '../print-items.js';
import { readPolicyFile } from '../read-policy-file.js';
import type { Session } from '../session.js';

const DEFAULT_NAME = 'default';
const MAX_VERSION = 2_147_483_647;
const MAX_APPROVALS = 100;

type Change = { name: string; yes?: boolean };

export const addPolicy: AddCommand = (program, cli) => {
  const policy = program.command('policy').description('read, change and roll back policies');
  policy
    .command('get', { isDefault: true })
    .description('print a policy as YAML, or with --json with its metadata')
    .argument('[name]', 'policy name', DEFAULT_NAME)
    .option('--version-number <n>', 'an earlier version', integer(1, MAX_VERSION))
    .action((name: string, { versionNumber }: { versionNumber?: number }, command: Command) =>
      cli.run(command, (session) => getPolicy(session, name, versionNumber)),
    );
  policy
    .command('list')
    .description('list the versions of all policies, or of one')
    .argument('[name]', 'policy name')
    .action((name: string | undefined, _options: object, command: Command) =>
      cli.run(command, (session) => listPolicies(session, name)),
    );
  addVersionCommands(policy, cli);
  addRuleCommands(policy, cli);
};

/** Commands that put a whole version. */
const addVersionCommands: AddCommand = (policy, cli) => {
  policy
    .command('put')
    .description('put a new version from a YAML or JSON file, after showing the changes on a terminal')
    .argument('<file>', 'YAML or JSON file; - for stdin')
    .option('--name <name>', 'policy name', DEFAULT_NAME)
    .option('-y, --yes', 'do not ask')
    .option('--if-version <n>', 'only if this is still the current version', integer(1, MAX_VERSION))
    .addHelpText(
      'after',
      `
Examples:
  $ capstan policy put policy.yaml
  $ capstan policy put policy.yaml --yes --if-version 3    # fails if version 4 exists`,
    )
    .action((file: string, { name, yes, ifVersion: if_version }: Change & { ifVersion?: number }, command: Command) =>
      cli.run(command, async (session) =>
        putPolicy(session, name, await readPolicyFile(session, file), { yes, if_version }),
      ),
    );
  policy
    .command('edit')
    .description('edit a policy in $VISUAL or $EDITOR and put the result')
    .argument('[name]', 'policy name', DEFAULT_NAME)
    .option('-y, --yes', 'do not ask')
    .action((name: string, { yes }: Change, command: Command) =>
      cli.run(command, (session) => editPolicy(session, name, { yes })),
    );
  policy
    .command('rollback')
    .description('restore an earlier version, as a new version')
    .argument('<version>', 'version number, from `capstan policy list`', integer(1, MAX_VERSION))
    .option('--name <name>', 'policy name', DEFAULT_NAME)
    .option('-y, --yes', 'do not ask')
    .action((version: number, { name, yes }: Change, command: Command) =>
      cli.run(command, async (session) => {
        const { policies } = await session.client();
        const { document } = await policies.get(name, { version });
        return putPolicy(session, name, document, { yes, rollback_to: version });
      }),
    );
};

/** Commands that add a single rule. */
const addRuleCommands: AddCommand = (policy, cli) => {
  policy
    .command('add-rule')
    .description('add a rule to a policy')
    .argument('<id>', 'id of the rule')
    .addOption(new Option('--effect <effect>', 'effect of the rule').choices(EFFECTS).makeOptionMandatory())
    .requiredOption('--tool <glob...>', 'tools it matches, with * and ?')
    .addOption(new Option('--risk-max <risk>', 'only tools of at most this risk').choices(RISKS))
    .addOption(new Option('--risk-min <risk>', 'only tools of at least this risk').choices(RISKS))
    .option('--actor <glob...>', 'only calls by these actors')
    .option('--if <expression>', 'only if this CEL expression is true, such as inputs.amount < 100')
    .option('--approvals <n>', 'how many people must approve a held call', integer(1, MAX_APPROVALS))
    .option('--reason <text>', 'shown with each decision')
    .option('--name <name>', 'policy name', DEFAULT_NAME)
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      `
Examples:
  $ capstan policy add-rule read-web --effect allow --tool api.request --risk-max MED
  $ capstan policy add-rule refunds --effect hold --tool 'ext:billing:*' --approvals 2`,
    )
    .action((id: string, { name, yes, ...rule }: Change & RuleOptions, command: Command) =>
      cli.run(command, async (session) => {
        const { document, base } = await addRule(session, name, id, rule);
        return putPolicy(session, name, document, { yes, base });
      }),
    );
  policy
    .command('propose')
    .description('propose a rule that allows calls like a held one, and show its effect')
    .argument('<hold>', 'hold id (hld_…)')
    .option('--input <name...>', 'inputs that must match; by default all')
    .option('--put', 'put the rule, after showing the changes and asking')
    .option('-y, --yes', 'do not ask')
    .action((hold_id: string, options: ProposeOptions, command: Command) =>
      cli.run(command, (session) => proposeRule(session, hold_id, options)),
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
    empty: 'No such policy. Create one with `capstan policy put <file> --name <tenant>`.',
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
