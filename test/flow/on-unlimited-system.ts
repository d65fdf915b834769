import { afterEach, beforeAll, describe, expect } from 'vitest';
import { query } from '../conformance/query.js';
import { eventually } from '../fixtures/eventually.js';
import { type QueueUnderTest, queues } from '../fixtures/queues.js';
import { ALLOW_ALL as ALL, type System, startSystem } from './start-system.js';

/** Allows private addresses, because the HTTP tools that count their calls are on this machine. */
export const ALLOW_ALL = { ...ALL, limits: [{ shell: true, deny_private_ips: false }] };
export const ADD = 'tool:cap:test_math:*';
export const add = (a: number) => ({ tool_id: 'cap:test_math:add', inputs: { a, b: 1 } });
export const sleep = (seconds: string) => ({ tool_id: 'shell.run', inputs: { cmd: ['sleep', seconds] } });

/** Runs the same tests on each queue, on a system that has no quotas before each of them. */
export function onUnlimitedSystem(tests: (its: { readonly system: System }, queue: QueueUnderTest) => void): void {
  describe.each(queues)('a quota on the $name queue', (queue) => {
    const its = {} as { system: System };
    beforeAll(async () => {
      its.system = await startSystem(queue, { workers: 2, webhooks: { allow_private: true } });
      await its.system.admin.policies.put('default', ALLOW_ALL);
    });
    afterEach(async () => {
      const { quotas, queues, policies } = its.system.admin;
      for (const { scope } of (await quotas.list().page()).items) await quotas.remove(scope);
      for (const runner of ['builtin', 'exec'] as const) await queues.resume(runner);
      await policies.put('default', ALLOW_ALL);
    });
    tests(its, queue);
  });
}

export const usageOf = async ({ admin }: System, scope: string) =>
  (await admin.quotas.usage().page()).items.find((one) => one.scope === scope);

export const succeeded = ({ database }: System, ids: string[]) =>
  eventually(
    async () => {
      const [{ count }] = await query(
        database.url,
        `SELECT count(*)::int FROM results WHERE status = 'succeeded' AND invocation_id = ANY ($1)`,
        [ids],
      );
      expect(count).toBe(ids.length);
    },
    { timeout_ms: 60_000 },
  );

/** The most attempts that ran at the same time, by when they were claimed and settled. */
export async function mostAtOnce({ database }: System, ids: string[]): Promise<number> {
  const [{ most }] = await query(
    database.url,
    `SELECT max(running)::int AS most FROM (
       SELECT sum(step) OVER (ORDER BY at, step) AS running FROM (
         SELECT started_at AS at, 1 AS step FROM ended_attempts WHERE invocation_id = ANY ($1)
         UNION ALL SELECT ended_at, -1 FROM ended_attempts WHERE invocation_id = ANY ($1)
       ) moves
     ) counted`,
    [ids],
  );
  return most;
}
