import {
  type KeptFor,
  type NewRetention,
  type Retention,
  TERMINAL_STATUSES,
  type TerminalStatus,
} from '@capstan/contracts';
import { type RawBuilder, sql } from 'kysely';

/** How old a call that ended so may become. Ends that are kept for ever are not among them. */
export type Age = { status: TerminalStatus; ms: number };

export type RetentionRule = {
  tenants: { only: string } | { except: string[] };
  results: Age[];
  records: Age[];
  /** Sessions that nobody used for so long; null: for ever. */
  sessions_ms: number | null;
};

const DAY_MS = 86_400_000;

/** One rule for each tenant that has settings of its own, and one for all others. */
export const retentionRules = (installation: KeptFor, own: readonly Retention[]): RetentionRule[] => [
  ...own.map(({ tenant, ...settings }) => toRule({ only: tenant }, settings, installation)),
  toRule({ except: own.map(({ tenant }) => tenant) }, {}, installation),
];

function toRule(tenants: RetentionRule['tenants'], own: NewRetention, installation: KeptFor): RetentionRule {
  const agesBy = (what: keyof KeptFor): Age[] =>
    TERMINAL_STATUSES.flatMap((status) => {
      const [days] = [own.by_status?.[status]?.[what], own[what], installation[what]].filter(
        (one) => one !== undefined,
      );
      return days === undefined || days === null ? [] : [{ status, ms: days * DAY_MS }];
    });
  const days = own.records_days === undefined ? installation.records_days : own.records_days;
  return {
    tenants,
    results: agesBy('results_days'),
    records: agesBy('records_days'),
    sessions_ms: days === undefined || days === null ? null : days * DAY_MS,
  };
}

export const isOf = (tenants: RetentionRule['tenants'], tenant: RawBuilder<unknown>): RawBuilder<boolean> =>
  'only' in tenants ? sql`${tenant} = ${tenants.only}` : sql`${tenant} <> ALL (${tenants.except}::text[])`;

/** As a table `age (status, ms)`. */
export const asTable = (ages: readonly Age[]): RawBuilder<unknown> =>
  sql`json_to_recordset(${JSON.stringify(ages)}::json) AS age (status text, ms float8)`;

/** Nothing younger than this is looked at. */
export const youngest = (ages: readonly Age[]): number => Math.min(...ages.map(({ ms }) => ms));
