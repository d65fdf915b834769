import { type KeptFor, type NewRetention, type Retention, TERMINAL_STATUSES } from '@capstan/contracts';
import { type Command, InvalidArgumentError } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatDuration } from '../format/duration.js';
import { relativeTime } from '../format/relative-time.js';
import { parseDuration } from '../parse/duration.js';
import { printItems } from '../print-items.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type Options = { results?: string; records?: string; for: NonNullable<NewRetention['by_status']> };

const DAY_MS = 86_400_000;
const EVER = 'ever';

export const addRetention: AddCommand = (program, cli) => {
  const retention = program
    .command('retention')
    .description('for how long tenants keep what ended: list, set, remove')
    .action((_options: object, command: Command) => cli.run(command, printAll));
  retention
    .command('list')
    .description('tenants with settings of their own; for all others, CAPSTAN_RETENTION_DAYS of the coordinator')
    .action((_options: object, command: Command) => cli.run(command, printAll));
  retention
    .command('set')
    .description('keep what ended of a tenant for so long; what is older goes at once')
    .argument('<tenant>')
    .option('--results <time>', 'payloads, logs and artifacts: 7d, 12h, or ever; their hashes stay', aTime)
    .option('--records <time>', 'all else: 30d, or ever', aTime)
    .option('--for <status=results/records>', 'of calls that ended so: failed=30d/365d, denied=/7d', ofStatus, {})
    .action((tenant: string, options: Options, command: Command) =>
      cli.run(command, (session) => set(session, tenant, options)),
    );
  retention
    .command('remove')
    .description('keep for tenants what the installation keeps')
    .argument('<tenant...>')
    .action((tenants: string[], _options: object, command: Command) =>
      cli.run(command, (session) => remove(session, tenants)),
    );
};

/** Elsewhere a bare number is seconds. Here most would mean days, and what is older than as many seconds would be gone. */
function days(text: string): number | null {
  if (text === EVER) return null;
  if (/^[\d.]+$/.test(text)) throw new InvalidArgumentError('it needs a unit: 30d, 12h, or ever.');
  return parseDuration(text) / DAY_MS;
}

/** The words themselves: commander takes null for no value. */
function aTime(text: string): string {
  days(text);
  return text;
}

const keptFor = (results: string | undefined, records: string | undefined): KeptFor => ({
  ...(results ? { results_days: days(results) } : {}),
  ...(records ? { records_days: days(records) } : {}),
});

function ofStatus(text: string, before: Options['for']): Options['for'] {
  const [, name, results, records] = /^(\w+)=([^/]*)(?:\/(.*))?$/.exec(text) ?? [];
  const status = TERMINAL_STATUSES.find((one) => one === name);
  if (!status) throw new InvalidArgumentError(`it is like failed=30d/365d, of ${TERMINAL_STATUSES.join(', ')}.`);
  return { ...before, [status]: keptFor(results, records) };
}

const forHowLong = (days: number | null | undefined): string =>
  days === undefined ? '-' : days === null ? EVER : formatDuration(days * DAY_MS);

const exceptions = ({ by_status = {} }: NewRetention): string =>
  Object.entries(by_status)
    .map(
      ([status, { results_days, records_days }]) => `${status} ${forHowLong(results_days)}/${forHowLong(records_days)}`,
    )
    .join(', ');

const printAll = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<Retention>(session, client.retentions.list(), {
    empty: 'Every tenant keeps what the installation keeps. Set one with `capstan retention set acme --results 7d`.',
    columns: [
      { title: 'TENANT', text: ({ tenant }) => tenant },
      { title: 'RESULTS', text: ({ results_days }) => forHowLong(results_days) },
      { title: 'RECORDS', text: ({ records_days }) => forHowLong(records_days) },
      { title: 'EXCEPT', text: exceptions, shrinks: true },
      { title: 'BY', text: ({ updated_by }) => updated_by },
      { title: 'UPDATED', text: ({ updated_at }) => relativeTime(updated_at, session.now()) },
    ],
  });
  return EXIT.success;
};

const set = async (session: Session, tenant: string, { results, records, for: by }: Options): Promise<ExitCode> => {
  const wanted: NewRetention = {
    ...keptFor(results, records),
    ...(Object.keys(by).length === 0 ? {} : { by_status: by }),
  };
  if (Object.keys(wanted).length === 0) throw new UsageError('name at least one of --results, --records and --for');
  const client = await session.client();
  const retention = await client.retentions.set(tenant, wanted);
  if (session.json) await session.printJson(retention);
  else {
    const more = exceptions(retention);
    await session.out.line(
      `${session.out.colors.green('✓')} ${tenant}: results ${forHowLong(retention.results_days)}, records ${forHowLong(retention.records_days)}${more === '' ? '' : `; ${more}`}`,
    );
  }
  return EXIT.success;
};

const remove = async (session: Session, tenants: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  for (const tenant of tenants) {
    await client.retentions.remove(tenant);
    if (session.json) await session.printJson({ tenant, removed: true });
    else await session.out.line(`${session.out.colors.green('✓')} ${tenant} keeps what the installation keeps`);
  }
  return EXIT.success;
};
