import { loneRunId, TERMINAL_STATUSES } from '@capstan/contracts';
import { chainStart, type SealKey } from '@capstan/integrity';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import { readInvocationEntries } from '../record/read-entries.js';
import { lockSeals } from './lock-seals.js';
import { chainEntries, writeLinks } from './write-links.js';
import { writeSeals } from './write-seals.js';

/** Seals lone invocations that have ended and are not sealed yet; each is a run, and a chain of one link. */
export async function sealLone(store: Store, invocation_ids: readonly string[], key: SealKey | null): Promise<number> {
  if (invocation_ids.length === 0) return 0;
  return store.db.transaction().execute(async (db) => {
    await lockSeals(db, invocation_ids.map(loneRunId));
    const { rows } = await sql<{ invocation_id: string }>`
      SELECT invocation_id FROM invocations i
      WHERE invocation_id = ANY (${invocation_ids}) AND run_id IS NULL AND status = ANY (${TERMINAL_STATUSES}) AND NOT EXISTS (
        SELECT FROM seals s WHERE s.run_id = 'run_' || substr(i.invocation_id, 5) AND s.voided_at IS NULL)`.execute(db);
    const entries = await readInvocationEntries(
      db,
      rows.map(({ invocation_id }) => invocation_id),
      'sealed',
    );
    const sealed = entries.flatMap((entry) => {
      const run_id = loneRunId(entry.id);
      const [row] = entry.tables.invocations ?? [];
      const links = chainEntries([entry], { place: -1, chain_hash: chainStart(run_id) });
      return links.map((link) => ({
        ...link,
        run_id,
        tenant: String(row?.tenant),
        policy_hash: String(row?.policy_hash),
      }));
    });
    await writeLinks(
      db,
      sealed.map(({ tenant: _, policy_hash: __, ...link }) => link),
    );
    await writeSeals(
      db,
      sealed.map(({ run_id, tenant, chain_hash, id, policy_hash }) => ({
        ...{ run_id, tenant, root: chain_hash, count: 1, first_id: id, last_id: id, plan_hash: null, policy_hash },
      })),
      key,
    );
    return sealed.length;
  });
}
