import type { Grant, Risk } from '@capstan/contracts';
import { type Command, Option } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { parseDuration } from '../parse/duration.js';
import { integer } from '../parse/integer.js';
import { printItems } from '../print-items.js';
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

const RISKS = ['LOW', 'MED', 'HIGH', 'CRITICAL'] as const satisfies Risk[];

export const addGrant: AddCommand = (program, cli) => {
  const grant = program
    .command('grant')
    .description('release held calls in advance: the next ones of a tool, or the steps of a plan')
    .argument('[tool]', 'the tool')
    .option('--plan <hash>', 'the plan_hash of the plan, which cannot change any more')
    .option('-n, --count <n>', 'for so many calls; of a tool 1 by default', integer(1, 10_000))
    .option('--expires <time>', 'good for so long: 30m, 2h; a day by default', parseDuration)
    .addOption(new Option('--max-risk <risk>', 'only for tools of at most this risk').choices(RISKS))
    .option('--input-hash <hash>', 'only for exactly these inputs')
    .option('--comment <text>', 'why; it is kept with each vote')
    .action((tool: string | undefined, options: Options, command: Command) =>
      cli.run(command, (session) => create(session, tool, options)),
    );
  grant
    .command('list')
    .description('every grant, the newest first')
    .action((_options: object, command: Command) => cli.run(command, printGrants));
  grant
    .command('revoke')
    .description('take grants back; what they released stays released')
    .argument('<id...>', 'gnt_…')
    .action((ids: string[], _options: object, command: Command) => cli.run(command, (session) => revoke(session, ids)));
};

const create = async (session: Session, tool_id: string | undefined, options: Options): Promise<ExitCode> => {
  if (tool_id === undefined && options.plan === undefined)
    throw new UsageError('name a tool, or a plan with --plan <hash>');
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
  if (session.json) await session.printJson(grant);
  else
    await session.out.line(
      `${session.out.colors.green('✓')} ${grant.grant_id}  ${whatFor(grant)}, until ${grant.expires_at}`,
    );
  return EXIT.success;
};

const whatFor = ({ tool_id, plan_hash, count }: Grant): string =>
  `${count ?? 'all'} of ${[plan_hash, tool_id].filter((part) => part !== null).join(' ')}`;

const printGrants = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const now = session.now();
  await printItems<Grant>(session, client.grants.list(), {
    empty: 'There are no grants.',
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
  for (const grant_id of ids) {
    await client.grants.revoke(grant_id);
    if (session.json) await session.printJson({ grant_id, revoked: true });
    else await session.out.line(`${session.out.colors.green('✓')} ${grant_id} revoked`);
  }
  return EXIT.success;
};
