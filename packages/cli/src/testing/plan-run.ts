import type { Run } from '@capstan/contracts';

export const AT = '2026-01-01T12:00:00.000Z';

/** A plan of three steps that has just begun. */
export const planRun = (more: Partial<Run> = {}): Run => ({
  run_id: 'run_1',
  kind: 'plan',
  mode: 'execution',
  replay_of: null,
  status: 'running',
  actor: 'ann',
  name: 'notes',
  plan_hash: null,
  policy_hash: null,
  reason: null,
  total_steps: 3,
  completed_steps: 0,
  denied_steps: 0,
  failed_steps: 0,
  canceled_steps: 0,
  skipped_steps: 0,
  held_steps: 0,
  created_at: AT,
  finished_at: null,
  ...more,
});
