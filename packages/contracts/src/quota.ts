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

/** What a quota is for: a kind and a name, which may have wildcards for tools. `actor:tenant/name` is one tenant's. */
export const QuotaScope = z
  .string()
  .max(512)
  .regex(/^(tenant|actor|tool|source|runner):[^\p{Cc}\s]+$/u, 'tenant:…, actor:…, tool:…, source:… or runner:…');
export type QuotaScope = z.infer<typeof QuotaScope>;

const isOneOf = (kind: string, names: readonly string[]) => (scope: string) =>
  !scope.startsWith(`${kind}:`) || names.includes(scope.slice(kind.length + 1));

/** A mistyped name would limit nothing. One that was set before names were looked at is still shown, and can be removed. */
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

/** Counted from what is stored, at the moment of the answer. Minutes and days are those of UTC. */
export const QuotaUsage = z.object({
  scope: QuotaScope,
  limits: QuotaLimits,
  on_exceed: OnExceed,
  waiting: z.int().describe('Deferred until there is room'),
  concurrent: z.int().describe('Queued or running'),
  calls_this_minute: z.int(),
  calls_today: z.int(),
  runtime_ms_today: z.number().describe('Real of what has ended, expected of what has not'),
  cost_units_today: z.number().describe('Real where it is known, expected where it is not'),
});
export type QuotaUsage = z.infer<typeof QuotaUsage>;
