import { TERMINAL_STATUSES } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Cluster } from './start-cluster.js';

/** The invariants after every fault. Each statement finds the rows that violate one. */
const BROKEN = {
  'accepted and unknown': `SELECT id FROM unnest($1::text[]) AS id
    WHERE NOT EXISTS (SELECT FROM invocations WHERE invocation_id = id)`,
  'not ended': `SELECT invocation_id, status FROM invocation_states WHERE status <> ALL ($2::text[])`,
  'ended without a result': `SELECT invocation_id, status FROM invocation_states i
    WHERE status IN ('succeeded', 'failed', 'timed_out')
      AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = i.invocation_id AND r.success IS NOT NULL)`,
  'a result that should not be': `SELECT r.invocation_id, r.status FROM results r LEFT JOIN invocations i USING (invocation_id)
    WHERE i.invocation_id IS NULL OR r.success IS NOT NULL AND r.status NOT IN ('succeeded', 'failed', 'timed_out', 'canceled')`,
  'a result of another attempt than the last': `SELECT r.invocation_id, r.attempt, a.attempt AS last
    FROM results r JOIN attempts a USING (invocation_id) WHERE a.attempt > r.attempt`,
  'in two places at once': `SELECT id FROM (SELECT invocation_id AS id FROM work UNION ALL SELECT invocation_id FROM results) AS places
    GROUP BY id HAVING count(*) > 1`,
  'a receipt that was left behind': 'SELECT claim_id, worker_id, ids FROM claims',
  'a result of other inputs': `SELECT r.invocation_id FROM results r JOIN invocations i USING (invocation_id)
    WHERE r.input_hash <> i.input_hash`,
  'attempts that are not on record': `SELECT invocation_id, attempt, recorded
    FROM invocation_states i, LATERAL (SELECT count(*)::int AS recorded FROM ended_attempts a
      WHERE a.invocation_id = i.invocation_id AND a.attempt BETWEEN 1 AND i.attempt) AS record
    WHERE recorded <> attempt`,
  'an attempt that never ended': `SELECT invocation_id, attempt FROM attempts WHERE ended_at IS NULL OR outcome IS NULL`,
  'a success whose attempt says otherwise': `SELECT i.invocation_id, i.attempt, a.outcome
    FROM invocation_states i JOIN ended_attempts a USING (invocation_id, attempt)
    WHERE i.status = 'succeeded' AND a.outcome <> 'succeeded'
      AND NOT EXISTS (SELECT FROM audit WHERE subject = i.invocation_id AND event = 'invocation.resolve')`,
};

const Hashed = z.array(
  z.object({
    invocation_id: z.string(),
    tool_id: z.string(),
    inputs: z.record(z.string(), z.unknown()),
    input_hash: z.string(),
    status: z.string(),
    payload: z.unknown(),
    output_hash: z.string().nullable(),
  }),
);

/** All accepted calls ended, no result is doubled or without its invocation, every attempt is on record, and every hash is right. */
export async function checkInvariants({ ask, crashes }: Cluster, accepted: readonly string[] = []): Promise<void> {
  for (const [rule, sql] of Object.entries(BROKEN))
    expect(
      await ask(`WITH given AS (SELECT $1::text[], $2::text[]) ${sql}`, [accepted, TERMINAL_STATUSES]),
      rule,
    ).toEqual([]);
  expect(new Set(accepted).size, 'ids that are no one else’s').toBe(accepted.length);

  const rows = Hashed.parse(
    await ask(`SELECT i.invocation_id, i.tool_id, i.inputs, i.input_hash, r.status, r.payload, r.output_hash
      FROM invocations i LEFT JOIN results r USING (invocation_id)`),
  );
  const wrong = rows.filter(
    ({ inputs, input_hash, payload, output_hash }) =>
      hashJson(inputs) !== input_hash || (output_hash !== null && hashJson(payload) !== output_hash),
  );
  expect(wrong, 'hashes that do not verify').toEqual([]);
  const sums = rows.filter(({ tool_id, status }) => tool_id === 'cap:test_math:add' && status === 'succeeded');
  const mistaken = sums.filter(
    ({ inputs: { a, b }, payload }) => hashJson(payload) !== hashJson({ result: Number(a) + Number(b) }),
  );
  expect(mistaken, 'results of something else').toEqual([]);
  expect(crashes.join('\n'), 'processes that ended by themselves').toBe('');
}
