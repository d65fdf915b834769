import { loneRunId, type Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { redriveInvocations } from '../invocation/redrive-invocations.js';
import { readStanding } from '../merkle/find-log-entries.js';
import { readCheckpoint } from '../merkle/read-tiles.js';
import { migrate } from '../migrate.js';
import type { Store } from '../open-store.js';
import { verifyLoggedRun } from '../record/verify-logged-run.js';
import { readSeal, readVoidedSeals } from '../seal/read-seal.js';
import { logAll } from '../testing/log-all.js';
import { openOldInstallation } from '../testing/open-old-installation.js';

const by: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };

type Ended = { run_id: string; kind: 'lone' | 'bulk' | 'plan'; tenant: string; sealed: boolean };

/** Runs and lone calls that had ended by then, and whether a seal covers them. */
async function readEnded({ db }: Store): Promise<Ended[]> {
  const { rows } = await sql<Ended>`
    SELECT e.*, EXISTS (SELECT FROM seals s WHERE s.run_id = e.run_id AND s.voided_at IS NULL) AS sealed
    FROM (
      SELECT run_id, kind, tenant FROM runs WHERE finished_at IS NOT NULL AND live_steps = 0
      UNION ALL
      SELECT 'run_' || substr(i.invocation_id, 5), 'lone', i.tenant FROM invocations i JOIN results r USING (invocation_id)
      WHERE i.run_id IS NULL
    ) AS e`.execute(db);
  return rows;
}

/** Lists mismatches except missing documents, because some calls of the old installation refer to none. */
async function findMismatches(store: Store, { tenant, ...run }: Omit<Ended, 'sealed'>): Promise<unknown[]> {
  const { last } = await readStanding(store.db, tenant, run.run_id);
  const checkpoint = last === null ? undefined : await readCheckpoint(store.db, tenant, last);
  const found: unknown[] = [];
  for await (const { mismatches } of verifyLoggedRun(store, tenant, run, checkpoint))
    found.push(...mismatches.filter(({ why }) => why !== 'the document is gone'));
  return found;
}

describe('an installation that gets a log', () => {
  test('contains calls that had ended without a seal, and none that have one', async () => {
    const store = await openOldInstallation();
    await migrate(store);
    await logAll(store);
    const ended = await readEnded(store);
    const unsealed = ended.filter(({ sealed }) => !sealed);
    expect(unsealed.length).toBeGreaterThan(0);
    for (const { sealed, ...run } of ended) {
      const { last } = await readStanding(store.db, run.tenant, run.run_id);
      expect(last === null, `${run.run_id} is in the log`).toBe(sealed);
      if (!sealed) expect(await findMismatches(store, run), run.run_id).toEqual([]);
    }
  });

  test('voids an old seal when its call is redriven, and the rest of the run goes into the log', async () => {
    const store = await openOldInstallation();
    await migrate(store);
    const { rows } = await sql<{ invocation_id: string; run_id: string | null }>`
      SELECT i.invocation_id, i.run_id FROM invocations i JOIN results r USING (invocation_id)
        JOIN seals s ON s.run_id = coalesce(i.run_id, 'run_' || substr(i.invocation_id, 5)) AND s.voided_at IS NULL
      WHERE r.status = 'failed' AND i.tenant = 'acme' ORDER BY i.run_id NULLS LAST`.execute(store.db);
    const [failed] = rows;
    if (!failed) throw new Error('no sealed call of the old installation has failed');
    const run_id = failed.run_id ?? loneRunId(failed.invocation_id);
    await redriveInvocations(store, by, { invocation_id: failed.invocation_id });
    expect(await readSeal(store.db, run_id)).toBeUndefined();
    expect(await readVoidedSeals(store.db, run_id)).toMatchObject([{ void_reason: 'redriven' }]);
    const others = await sql<{ count: number }>`
      SELECT count(*)::int AS count FROM invocations i JOIN results r USING (invocation_id) WHERE i.run_id = ${run_id}`.execute(
      store.db,
    );
    await logAll(store);
    expect((await readStanding(store.db, 'acme', run_id)).last === null).toBe((others.rows[0]?.count ?? 0) === 0);
  });
});
