import { DAY_MS, type KeptFor, type NewRetention, type Retention, TERMINAL_STATUSES } from '@capstan/contracts';
import { type Command, InvalidArgumentError } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatDuration } from '../format/duration.js';
import { relativeTime } from '../format/relative-time.js';
import { parseDuration } from '../parse/duration.js';
import { printDone } from '../print-done.js';
import { printItems } from '../print-items.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type Options = { results?: string; records?: string; for?: Exceptions };
type Exceptions = NonNullable<NewRetention['by_status']>;

const EVER = 'ever';

export const addRetention: AddCommand = (program, cli) => {
  const retention = program
    .command('retention')
    .description('manage how long tenants keep finished calls and runs')
    .action((_options: object, command: Command) => cli.run(command, printAll));
  retention
    .command('list')
    .description('list tenants with their own retention; others use CAPSTAN_RETENTION_DAYS')
    .action((_options: object, command: Command) => cli.run(command, printAll));
  retention
    .command('set')
    .description('set the retention of a tenant; older data is deleted at once')
    .argument('<tenant>', 'tenant name')
    .option('--results <time>', 'keep payloads, logs and artifacts this long: 7d, 12h or ever; hashes stay', checkTime)
    .option('--records <time>', 'keep everything else this long: 30d or ever', checkTime)
    .option(
      '--for <status=results/records>',
      'exception by status: failed=30d/365d, denied=/7d (repeatable)',
      parseException,
    )
    .action((tenant: string, options: Options, command: Command) =>
      cli.run(command, (session) => set(session, tenant, options)),
    );
  retention
    .command('remove')
    .description('reset tenants to the retention of the installation')
    .argument('<tenant...>', 'tenant names')
    .action((tenants: string[], _options: object, command: Command) =>
      cli.run(command, (session) => remove(session, tenants)),
    );
};

/** Elsewhere a bare number means seconds. Here most people would mean days, and data would be lost, so a unit is required. */
function days(text: string): number | null {
  if (text === EVER) return null;
  if (/^[\d.]+$/.test(text)) throw new InvalidArgumentError('Expected a time with a unit, like 30d or 12h, or ever.');
  return parseDuration(text) / DAY_MS;
}

/** Returns the text rather than the days, because commander treats null as no value. */
function checkTime(text: string): string {
  days(text);
  return text;
}

const keptFor = (results: string | undefined, records: string | undefined): KeptFor => ({
  ...(results ? { results_days: days(results) } : {}),
  ...(records ? { records_days: days(records) } : {}),
});

function parseException(text: string, before: Exceptions = {}): Exceptions {
  const [, name, results, records] = /^(\w+)=([^/]*)(?:\/(.*))?$/.exec(text) ?? [];
  const status = TERMINAL_STATUSES.find((one) => one === name);
  if (!status)
    throw new InvalidArgumentError(
      `Expected status=results/records, like failed=30d/365d, with a status of ${TERMINAL_STATUSES.join(', ')}.`,
    );
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
    empty:
      'All tenants have the retention of the installation. Set one with `capstan retention set acme --results 7d`.',
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
    ...(by === undefined ? {} : { by_status: by }),
  };
  if (Object.keys(wanted).length === 0)
    throw new UsageError('nothing to set', 'Pass at least one of --results, --records and --for.');
  const client = await session.client();
  const retention = await client.retentions.set(tenant, wanted);
  const { results_days, records_days } = retention;
  const more = exceptions(retention);
  await printDone(
    session,
    retention,
    `${tenant}: results ${forHowLong(results_days)}, records ${forHowLong(records_days)}${more === '' ? '' : `; ${more}`}`,
  );
  return EXIT.success;
};

const remove = async (session: Session, tenants: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  for (const tenant of tenants) {
    await client.retentions.remove(tenant);
    await printDone(session, { tenant, removed: true }, `${tenant} reset to the retention of the installation`);
  }
  return EXIT.success;
};
