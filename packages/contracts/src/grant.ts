import { z } from 'zod';
import { Risk } from './descriptor.js';
import { Hash } from './hash.js';
import { HoldComment } from './hold.js';
import { Role } from './key.js';
import { DAY_MS } from './time.js';

const MAX_GRANT_MS = 30 * DAY_MS;
const DEFAULT_GRANT_MS = DAY_MS;

/** A vote given in advance: for the next calls of a tool, or for the steps of a fixed plan. */
export const NewGrant = z
  .strictObject({
    kind: z.enum(['tool', 'plan']).default('tool'),
    tool_id: z.string().min(1).max(512).optional(),
    plan_hash: Hash.optional(),
    input_hash: Hash.optional().describe('Only for exactly these inputs'),
    max_risk: Risk.optional().describe('Only for tools of at most this risk'),
    count: z
      .int()
      .min(1)
      .max(10_000)
      .optional()
      .describe('The number of calls it covers; by default 1 for a tool and unlimited for a plan'),
    expires_in_ms: z.int().min(1).max(MAX_GRANT_MS).default(DEFAULT_GRANT_MS),
    comment: HoldComment.optional(),
  })
  .refine(({ kind, tool_id }) => kind === 'plan' || tool_id !== undefined, { path: ['tool_id'], message: 'is missing' })
  .refine(({ kind, plan_hash }) => (kind === 'plan') === (plan_hash !== undefined), {
    path: ['plan_hash'],
    message: 'is required for a grant of kind plan, and not allowed otherwise',
  });
export type NewGrant = z.infer<typeof NewGrant>;
export type NewGrantInput = z.input<typeof NewGrant>;

export const Grant = z.object({
  grant_id: z.string(),
  kind: z.enum(['tool', 'plan']),
  actor: z.string(),
  roles: z.array(Role),
  tool_id: z.string().nullable(),
  plan_hash: Hash.nullable(),
  input_hash: Hash.nullable(),
  max_risk: Risk.nullable(),
  count: z.int().nullable(),
  used: z.int(),
  comment: z.string().nullable(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  revoked_at: z.iso.datetime().nullable(),
});
export type Grant = z.infer<typeof Grant>;
