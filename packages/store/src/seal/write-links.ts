import { chainLink, type Link, sealEntry } from '@capstan/integrity';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import type { ReadEntry } from '../record/read-entries.js';

export type Tail = { place: number; chain_hash: string };

/** The links of these entries, in this order, after the tail. */
export function chainEntries(entries: readonly ReadEntry[], tail: Tail): Link[] {
  let { place, chain_hash } = tail;
  return entries.map((entry) => {
    const { record_hash, digests } = sealEntry(entry);
    const { kind, id } = entry;
    chain_hash = chainLink(chain_hash, { kind, id, record_hash });
    place += 1;
    return { place, kind, id, record_hash, chain_hash, digests };
  });
}

/** And the results that they cover say so. */
export async function writeLinks(db: Db, links: readonly (Link & { run_id: string })[]): Promise<void> {
  if (links.length === 0) return;
  await sql`
    INSERT INTO seal_links (run_id, place, kind, id, record_hash, chain_hash, digests)
    SELECT * FROM json_to_recordset(${JSON.stringify(links)}::json)
      AS l (run_id text, place int, kind text, id text, record_hash text, chain_hash text, digests json)`.execute(db);
  const covered = links.filter(({ kind }) => kind === 'invocation');
  await sql`
    UPDATE results r SET chain_hash = l.chain_hash
    FROM unnest(${covered.map(({ id }) => id)}::text[], ${covered.map(({ chain_hash }) => chain_hash)}::text[]) AS l (id, chain_hash)
    WHERE r.invocation_id = l.id`.execute(db);
}
