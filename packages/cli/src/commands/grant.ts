import type { Grant, Risk } from '@capstan/contracts';
import { type Command, Option } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { parseDuration } from '../parse/duration.js';
import { integer } from '../parse/integer.js';
import { RISKS } from '../parse/words.js';
import { printDone } from '../print-done.js';
import { printItems } from '../print-items.js';
import { removeEach } from '../remove-each.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type Options = {
  plan?: string;
  count?: number;
  expires?: number;
  maxRisk?: Risk;
  inputHash?: string;
  comment?: string;
};

export const addGrant: AddCommand = (program, cli) => {
  const grant = program
    .command('grant')
    .description('approve calls of a tool or the steps of a plan in advance')
    .argument('[tool]', 'tool id')
    .option('--plan <hash>', 'plan_hash of the plan to approve')
    .option('-n, --count <n>', 'how many calls it covers; for a tool 1 by default', integer(1, 10_000))
    .option('--expires <time>', 'how long it is valid: 30m, 2h; 1d by default', parseDuration)
    .addOption(new Option('--max-risk <risk>', 'only for tools up to this risk').choices(RISKS))
    .option('--input-hash <hash>', 'only for inputs with this hash')
    .option('--comment <text>', 'reason, recorded with each vote')
    .action((tool: string | undefined, options: Options, command: Command) =>
      cli.run(command, (session) => create(session, tool, options)),
    );
  grant
    .command('list')
    .description('list grants, newest first')
    .action((_options: object, command: Command) => cli.run(command, printGrants));
  grant
    .command('revoke')
    .description('revoke grants; calls already released stay released')
    .argument('<id...>', 'grant ids (gnt_…)')
    .action((ids: string[], _options: object, command: Command) => cli.run(command, (session) => revoke(session, ids)));
};

const create = async (session: Session, tool_id: string | undefined, options: Options): Promise<ExitCode> => {
  if (tool_id === undefined && options.plan === undefined)
    throw new UsageError('no tool or plan given', 'Pass a tool id, or --plan <hash>.');
  const client = await session.client();
  const grant = await client.grants.create({
    kind: options.plan === undefined ? 'tool' : 'plan',
    tool_id,
    plan_hash: options.plan,
    count: options.count,
    expires_in_ms: options.expires,
    max_risk: options.maxRisk,
    input_hash: options.inputHash,
    comment: options.comment,
  });
  await printDone(session, grant, `${grant.grant_id}  ${whatFor(grant)}, until ${grant.expires_at}`);
  return EXIT.success;
};

const whatFor = ({ tool_id, plan_hash, count }: Grant): string =>
  `${count ?? 'all'} of ${[plan_hash, tool_id].filter((part) => part !== null).join(' ')}`;

const printGrants = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const now = session.now();
  await printItems<Grant>(session, client.grants.list(), {
    empty: 'No grants. Create one with `capstan grant <tool>`.',
    columns: [
      { title: 'GRANT', text: ({ grant_id }) => grant_id },
      { title: 'FOR', text: ({ tool_id, plan_hash }) => plan_hash ?? tool_id ?? '-', shrinks: true },
      { title: 'USED', text: ({ used, count }) => `${used}/${count ?? '∞'}`, align: 'right' },
      { title: 'BY', text: ({ actor }) => actor },
      { title: 'ENDS', text: ({ expires_at, revoked_at }) => (revoked_at ? 'revoked' : relativeTime(expires_at, now)) },
    ],
  });
  return EXIT.success;
};

const revoke = async (session: Session, ids: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  return removeEach(session, ids, { field: 'grant_id', done: 'revoked', remove: (id) => client.grants.revoke(id) });
};
