import {
  DAY_MS,
  type KeptFor,
  type NewRetention,
  type Retention,
  TERMINAL_STATUSES,
  type TerminalStatus,
} from '@capstan/contracts';
import { type RawBuilder, sql } from 'kysely';

/** How long calls that ended with this status are kept. Statuses that are kept for ever have no entry. */
export type Age = { status: TerminalStatus; ms: number };

export type RetentionRule = {
  tenants: { only: string } | { except: string[] };
  results: Age[];
  records: Age[];
  /** How long unused sessions are kept; null: for ever. */
  sessions_ms: number | null;
};

/** One rule for each tenant with its own settings, and one for all others. */
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

/** The ages of all rules: for tenants with their own rules (`owners`), and for all others. */
export function agesByTenant(
  rules: readonly RetentionRule[],
  agesOf: (rule: RetentionRule) => Age[],
): { own: (Age & { tenant: string })[]; others: Age[]; owners: string[] } {
  const own: (Age & { tenant: string })[] = [];
  const others: Age[] = [];
  const owners: string[] = [];
  for (const rule of rules) {
    const { tenants } = rule;
    if ('except' in tenants) others.push(...agesOf(rule));
    else {
      owners.push(tenants.only);
      own.push(...agesOf(rule).map((age) => ({ tenant: tenants.only, ...age })));
    }
  }
  return { own, others, owners };
}

/** Calls younger than this need not be read. */
export const youngest = (ages: readonly Age[]): number => Math.min(...ages.map(({ ms }) => ms));
