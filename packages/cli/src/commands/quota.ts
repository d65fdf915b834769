import type { NewQuotaInput, Quota, QuotaLimits, QuotaUsage } from '@capstan/contracts';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { integer } from '../parse/integer.js';
import { printDone } from '../print-done.js';
import { printItems } from '../print-items.js';
import { removeEach } from '../remove-each.js';
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
    .description('manage limits for tenants, actors, tools and runner types')
    .action((_options: object, command: Command) => cli.run(command, printQuotas));
  quota
    .command('list')
    .description('list quotas')
    .action((_options: object, command: Command) => cli.run(command, printQuotas));
  quota
    .command('set')
    .description('set the quota of a scope, for new calls')
    .argument('<scope>', 'tenant:acme, actor:ann, tool:ext:*, source:mcp or runner:exec')
    .option('--concurrent <n>', 'calls at the same time', integer(1))
    .option('--per-minute <n>', 'calls per minute', integer(0))
    .option('--per-day <n>', 'calls per day', integer(0))
    .option('--runtime-ms <n>', 'total run time per day, in milliseconds', integer(0))
    .option('--cost <units>', 'total cost per day', units)
    .addOption(
      new Option('--on-exceed <what>', 'what happens to calls beyond the limit')
        .choices(['defer', 'deny'])
        .default('defer'),
    )
    .action((scope: string, options: SetOptions, command: Command) =>
      cli.run(command, (session) => setQuota(session, scope, options)),
    );
  quota
    .command('usage')
    .description('show the current usage of each quota')
    .action((_options: object, command: Command) => cli.run(command, printUsage));
  quota
    .command('remove')
    .description('remove quotas')
    .argument('<scope...>', 'scopes, from `capstan quota list`')
    .action((scopes: string[], _options: object, command: Command) =>
      cli.run(command, (session) => removeQuotas(session, scopes)),
    );
};

const units = (text: string): number => {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new InvalidArgumentError('Expected a number of at least 0.');
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
    empty: 'No quotas. Set one with `capstan quota set tool:ext:* --concurrent 5`.',
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
    empty: 'No quotas.',
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
  await printDone(session, quota, `${quota.scope}: ${describe(quota.limits)}, then ${quota.on_exceed}`);
  return EXIT.success;
};

const removeQuotas = async (session: Session, scopes: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  return removeEach(session, scopes, {
    field: 'scope',
    done: 'removed',
    remove: (scope) => client.quotas.remove(scope),
  });
};
