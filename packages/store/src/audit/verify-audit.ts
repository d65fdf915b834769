import type { AuditVerification, Mismatch } from '@capstan/contracts';
import { chainNext } from '@capstan/integrity';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import { type AuditRow, auditEntry, auditStart } from './chain-audit.js';

type LinkedRow = { place: string; chain_hash: string; link_seq: string } & {
  [Column in keyof AuditRow]: AuditRow[Column] | null;
};
const BATCH = 1000;
const MAX_MISMATCHES = 1000;

/** Recomputes the chain of a tenant's events, page by page. */
export async function verifyAudit(store: Store, tenant: string): Promise<AuditVerification> {
  const mismatches: Mismatch[] = [];
  let found = 0;
  const note = (row: string, field: string, stored: unknown, computed: unknown, why: string) => {
    found += 1;
    if (mismatches.length < MAX_MISMATCHES) mismatches.push({ table: 'audit', row, field, stored, computed, why });
  };
  let place = 0;
  let previous = auditStart(tenant);
  let checked = 0;
  while (true) {
    const { rows } = await sql<LinkedRow>`
      SELECT l.place, l.chain_hash, l.seq AS link_seq, a.seq, a.at, a.tenant, a.actor, a.event, a.subject, a.detail
      FROM audit_links l LEFT JOIN audit a ON a.seq = l.seq AND a.tenant = l.tenant
      WHERE l.tenant = ${tenant} AND l.place > ${place} ORDER BY l.place LIMIT ${BATCH}`.execute(store.db);
    if (rows.length === 0) break;
    for (const { place: at, chain_hash, link_seq, ...row } of rows) {
      if (Number(at) !== place + 1) note(link_seq, 'place', at, place + 1, 'links of the chain are missing before it');
      place = Number(at);
      checked += 1;
      if (!isEvent(row)) note(link_seq, 'row', null, chain_hash, 'the event is gone');
      else {
        const computed = chainNext(previous, auditEntry(row));
        if (computed !== chain_hash)
          note(link_seq, 'chain_hash', chain_hash, computed, 'the event is not what was chained');
      }
      previous = chain_hash;
    }
  }
  const { rows } = await sql<{ unchained: number }>`
    SELECT count(*)::int AS unchained FROM audit a
    WHERE a.tenant = ${tenant} AND NOT EXISTS (SELECT FROM audit_links l WHERE l.seq = a.seq)`.execute(store.db);
  return {
    ok: found === 0,
    checked,
    unchained: rows[0]?.unchained ?? 0,
    head: checked > 0 ? previous : null,
    mismatches,
  };
}

type Parts = Omit<LinkedRow, 'place' | 'chain_hash' | 'link_seq'>;
const isEvent = (row: Parts): row is AuditRow => row.seq !== null;
