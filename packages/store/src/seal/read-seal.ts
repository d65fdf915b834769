import type { Link, Seal } from '@capstan/integrity';
import { sql } from 'kysely';
import type { Db, Store } from '../open-store.js';
import type { SealTable } from './tables.js';

const COLUMNS = sql`run_id, generation, tenant, root, count, first_id, last_id, plan_hash, policy_hash, sealed_at, seal_hash,
  signature, key_id, public_key`;

/** The current seal of a run. */
export async function readSeal(db: Db, run_id: string): Promise<Seal | undefined> {
  const { rows } = await sql<Seal>`
    SELECT ${COLUMNS} FROM seals WHERE run_id = ${run_id} AND voided_at IS NULL ORDER BY generation DESC LIMIT 1`.execute(
    db,
  );
  return rows[0];
}

export type VoidedSeal = Pick<SealTable, 'generation' | 'root' | 'void_reason'> & {
  sealed_at: string;
  voided_at: string;
};

export async function readVoidedSeals(db: Db, run_id: string): Promise<VoidedSeal[]> {
  const { rows } = await sql<VoidedSeal>`
    SELECT generation, root, sealed_at, voided_at, void_reason FROM seals
    WHERE run_id = ${run_id} AND voided_at IS NOT NULL ORDER BY generation`.execute(db);
  return rows;
}

/** The links of a run, page by page. */
export async function* readLinks(store: Pick<Store, 'db'>, run_id: string, batch = 500): AsyncGenerator<Link[]> {
  let after = -1;
  while (true) {
    const { rows } = await sql<Link>`
      SELECT place, kind, id, record_hash, chain_hash, digests FROM seal_links
      WHERE run_id = ${run_id} AND place > ${after} ORDER BY place LIMIT ${batch}`.execute(store.db);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.place;
  }
}
