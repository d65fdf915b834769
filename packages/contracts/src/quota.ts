import { z } from 'zod';
import { ToolSource } from './descriptor.js';
import { RUNNER_TYPES } from './runner-type.js';

const Count = z.int().min(0).max(1_000_000_000);

export const QuotaLimits = z.strictObject({
  max_concurrent: z.int().min(1).max(1_000_000).optional(),
  calls_per_minute: Count.optional(),
  calls_per_day: Count.optional(),
  max_runtime_ms_per_day: z.int().min(0).optional(),
  max_cost_units_per_day: z.number().min(0).optional(),
});
export type QuotaLimits = z.infer<typeof QuotaLimits>;
export type QuotaLimit = keyof QuotaLimits;

export const OnExceed = z.enum(['defer', 'deny']);

/** The scope of a quota: a kind and a name. Names of tools may have wildcards. `actor:tenant/name` belongs to one tenant. */
export const QuotaScope = z
  .string()
  .max(512)
  .regex(
    /^(tenant|actor|tool|source|runner):[^\p{Cc}\s]+$/u,
    'must be tenant:…, actor:…, tool:…, source:… or runner:…',
  );
export type QuotaScope = z.infer<typeof QuotaScope>;

const isOneOf = (kind: string, names: readonly string[]) => (scope: string) =>
  !scope.startsWith(`${kind}:`) || names.includes(scope.slice(kind.length + 1));

/** Checks names, because a mistyped one would limit nothing. Scopes set before this check are still shown and can be removed. */
export const NewQuotaScope = QuotaScope.refine(
  isOneOf('source', ToolSource.options),
  `source:… names one of ${ToolSource.options.join(', ')}`,
).refine(isOneOf('runner', RUNNER_TYPES), `runner:… names one of ${RUNNER_TYPES.join(', ')}`);

export const NewQuota = QuotaLimits.extend({ on_exceed: OnExceed.default('defer') }).refine(
  ({ on_exceed: _, ...limits }) => Object.keys(limits).length > 0,
  'at least one limit must be given',
);
export type NewQuota = z.infer<typeof NewQuota>;
export type NewQuotaInput = z.input<typeof NewQuota>;

export const Quota = z.object({
  scope: QuotaScope,
  limits: QuotaLimits,
  on_exceed: OnExceed,
  updated_by: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Quota = z.infer<typeof Quota>;

/** Counted from stored rows at the time of the request. Minutes and days are in UTC. */
export const QuotaUsage = z.object({
  scope: QuotaScope,
  limits: QuotaLimits,
  on_exceed: OnExceed,
  waiting: z.int().describe('Calls deferred until there is room'),
  concurrent: z.int().describe('Calls that are queued or running'),
  calls_this_minute: z.int(),
  calls_today: z.int(),
  runtime_ms_today: z.number().describe('Actual time of ended calls and expected time of the others'),
  cost_units_today: z.number().describe('Actual cost if known, otherwise the expected cost'),
});
export type QuotaUsage = z.infer<typeof QuotaUsage>;
