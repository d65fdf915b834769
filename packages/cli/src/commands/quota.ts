import type { NewQuotaInput, Quota, QuotaLimits, QuotaUsage } from '@capstan/contracts';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { integer } from '../parse/integer.js';
import { printItems } from '../print-items.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type SetOptions = {
  concurrent?: number;
  perMinute?: number;
  perDay?: number;
  runtimeMs?: number;
  cost?: number;
  onExceed: 'defer' | 'deny';
};

export const addQuota: AddCommand = (program, cli) => {
  const quota = program
    .command('quota')
    .description('how much a tenant, an actor, a tool, a source or a runner type may: list, set, usage, remove')
    .action((_options: object, command: Command) => cli.run(command, printQuotas));
  quota
    .command('list')
    .description('every quota')
    .action((_options: object, command: Command) => cli.run(command, printQuotas));
  quota
    .command('set')
    .description('limit a scope, for calls submitted from now on')
    .argument('<scope>', 'tenant:acme, actor:ann, tool:ext:*, source:mcp, runner:exec')
    .option('--concurrent <n>', 'at the same time', integer(1))
    .option('--per-minute <n>', 'calls in a minute', integer(0))
    .option('--per-day <n>', 'calls in a day', integer(0))
    .option('--runtime-ms <n>', 'time that they run, in a day', integer(0))
    .option('--cost <units>', 'what they cost, in a day', units)
    .addOption(
      new Option('--on-exceed <what>', 'let calls wait, or deny them').choices(['defer', 'deny']).default('defer'),
    )
    .action((scope: string, options: SetOptions, command: Command) =>
      cli.run(command, (session) => setQuota(session, scope, options)),
    );
  quota
    .command('usage')
    .description('what each has used, counted now')
    .action((_options: object, command: Command) => cli.run(command, printUsage));
  quota
    .command('remove')
    .description('limit them no more')
    .argument('<scope...>')
    .action((scopes: string[], _options: object, command: Command) =>
      cli.run(command, (session) => removeQuotas(session, scopes)),
    );
};

const units = (text: string): number => {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new InvalidArgumentError('a number of at least 0 is expected.');
  return value;
};

const describe = ({
  max_concurrent,
  calls_per_minute,
  calls_per_day,
  max_runtime_ms_per_day,
  max_cost_units_per_day,
}: QuotaLimits): string =>
  [
    max_concurrent === undefined ? [] : `${max_concurrent} at once`,
    calls_per_minute === undefined ? [] : `${calls_per_minute}/min`,
    calls_per_day === undefined ? [] : `${calls_per_day}/day`,
    max_runtime_ms_per_day === undefined ? [] : `${max_runtime_ms_per_day} ms/day`,
    max_cost_units_per_day === undefined ? [] : `${max_cost_units_per_day} units/day`,
  ]
    .flat()
    .join(', ');

const printQuotas = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<Quota>(session, client.quotas.list(), {
    empty: 'There are no quotas. Set one with `capstan quota set tool:ext:* --concurrent 5`.',
    columns: [
      { title: 'SCOPE', text: ({ scope }) => scope, shrinks: true },
      { title: 'LIMITS', text: ({ limits }) => describe(limits) },
      { title: 'BEYOND', text: ({ on_exceed }) => on_exceed },
      { title: 'BY', text: ({ updated_by }) => updated_by },
      { title: 'UPDATED', text: ({ updated_at }) => relativeTime(updated_at, session.now()) },
    ],
  });
  return EXIT.success;
};

const printUsage = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const of = (used: number, max: number | undefined): string => (max === undefined ? String(used) : `${used}/${max}`);
  await printItems<QuotaUsage>(session, client.quotas.usage(), {
    empty: 'There are no quotas.',
    columns: [
      { title: 'SCOPE', text: ({ scope }) => scope, shrinks: true },
      { title: 'NOW', text: ({ concurrent, limits }) => of(concurrent, limits.max_concurrent) },
      { title: 'WAITING', text: ({ waiting }) => String(waiting) },
      { title: 'MINUTE', text: ({ calls_this_minute, limits }) => of(calls_this_minute, limits.calls_per_minute) },
      { title: 'TODAY', text: ({ calls_today, limits }) => of(calls_today, limits.calls_per_day) },
      {
        title: 'RUNTIME MS',
        text: ({ runtime_ms_today, limits }) => of(runtime_ms_today, limits.max_runtime_ms_per_day),
      },
      { title: 'COST', text: ({ cost_units_today, limits }) => of(cost_units_today, limits.max_cost_units_per_day) },
    ],
  });
  return EXIT.success;
};

const setQuota = async (session: Session, scope: string, options: SetOptions): Promise<ExitCode> => {
  const { concurrent, perMinute, perDay, runtimeMs, cost, onExceed } = options;
  const limits: NewQuotaInput = {
    ...(concurrent === undefined ? {} : { max_concurrent: concurrent }),
    ...(perMinute === undefined ? {} : { calls_per_minute: perMinute }),
    ...(perDay === undefined ? {} : { calls_per_day: perDay }),
    ...(runtimeMs === undefined ? {} : { max_runtime_ms_per_day: runtimeMs }),
    ...(cost === undefined ? {} : { max_cost_units_per_day: cost }),
  };
  if (Object.keys(limits).length === 0) throw new UsageError('at least one limit is needed, such as --concurrent 5');
  const client = await session.client();
  const quota = await client.quotas.set(scope, { ...limits, on_exceed: onExceed });
  if (session.json) await session.printJson(quota);
  else
    await session.out.line(
      `${session.out.colors.green('✓')} ${quota.scope}: ${describe(quota.limits)}, then ${quota.on_exceed}`,
    );
  return EXIT.success;
};

const removeQuotas = async (session: Session, scopes: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  for (const scope of scopes) {
    await client.quotas.remove(scope);
    if (session.json) await session.printJson({ scope, removed: true });
    else await session.out.line(`${session.out.colors.green('✓')} ${scope} removed`);
  }
  return EXIT.success;
};
