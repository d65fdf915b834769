import { z } from 'zod';
import type { DeclaredEffects } from './merge-effects.js';

const Cost = z.object({
  estimate: z.enum(['free', 'low', 'medium', 'high']).optional(),
  billable: z.boolean().optional(),
});
const Interactive = z.object({
  stdin: z.enum(['none', 'optional', 'required', 'password']).optional(),
  prompts: z.boolean().optional(),
  tty: z.boolean().optional(),
});

/** Effects in ATIP's words, as documents and extensions write them. */
export const EffectsDeclaration = z.object({
  filesystem: z
    .object({
      read: z.boolean().optional(),
      write: z.boolean().optional(),
      delete: z.boolean().optional(),
      paths: z.array(z.string()).optional(),
    })
    .optional(),
  network: z.boolean().optional(),
  subprocess: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  reversible: z.boolean().optional(),
  destructive: z.boolean().optional(),
  creates: z.array(z.string()).optional(),
  modifies: z.array(z.string()).optional(),
  deletes: z.array(z.string()).optional(),
  interactive: Interactive.optional(),
  cost: Cost.optional(),
  duration: z
    .object({
      typical: z
        .string()
        .regex(/^[0-9]+-[0-9]+[smh]$/)
        .optional(),
      timeout: z
        .string()
        .regex(/^[0-9]+[smh]$/)
        .optional(),
    })
    .optional(),
});
export type EffectsDeclaration = z.infer<typeof EffectsDeclaration>;

/** An estimate in words as a number that budgets can add up. */
const COST_UNITS = { free: 0, low: 1, medium: 10, high: 100 };
const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000 };
/** ATIP's own ceiling for a run. */
const MAX_TIMEOUT_MS = 600_000;

export function toDeclaredEffects(effects: EffectsDeclaration): DeclaredEffects {
  const { interactive, cost, filesystem } = effects;
  return {
    idempotent: effects.idempotent,
    destructive: effects.destructive,
    reversible: effects.reversible,
    network: effects.network,
    subprocess: effects.subprocess,
    filesystem: filesystem && { read: filesystem.read, write: filesystem.write, delete: filesystem.delete },
    // Free tools are not billable.
    billable: cost?.billable ?? (cost?.estimate === 'free' ? false : undefined),
    cost_units: cost?.estimate && COST_UNITS[cost.estimate],
    interactive: interactive && asks(interactive),
  };
}

const asks = ({ stdin, prompts, tty }: z.infer<typeof Interactive>): boolean =>
  stdin === 'required' || stdin === 'password' || prompts === true || tty === true;

export function timeoutOf({ duration }: EffectsDeclaration): number | undefined {
  const [, amount, unit] = /^(\d{1,6})([smh])$/.exec(duration?.timeout ?? '') ?? [];
  if (amount === undefined || (unit !== 's' && unit !== 'm' && unit !== 'h')) return undefined;
  return Math.min(Math.max(Number(amount) * UNIT_MS[unit], 1), MAX_TIMEOUT_MS);
}
