import { sql } from 'kysely';
import type { Store } from '../open-store.js';

/** The tables that contain an invocation: `work`, `claims`, `results`, once for each occurrence. */
export async function placesOf(store: Store, invocation_id: string): Promise<string[]> {
  const { rows } = await sql<{ place: string }>`
    SELECT 'claims' AS place FROM claims, unnest(ids) AS id WHERE id = ${invocation_id}
    UNION ALL SELECT 'results' FROM results WHERE invocation_id = ${invocation_id}
    UNION ALL SELECT 'work' FROM work WHERE invocation_id = ${invocation_id}`.execute(store.db);
  return rows.map(({ place }) => place);
}
