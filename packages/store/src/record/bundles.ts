import type { ImportedBundle, Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { nanoid } from 'nanoid';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';

export type NewBundle = Pick<ImportedBundle, 'run_id' | 'kind' | 'count' | 'seal_hash'>;
const BATCH = 200;

/** Stores the lines of a verified bundle as they arrive. */
export async function keepBundle(
  store: Store,
  by: Principal,
  bundle: NewBundle,
  lines: AsyncIterable<string>,
): Promise<ImportedBundle> {
  return store.db.transaction().execute(async (db) => {
    const kept = await db
      .insertInto('bundles')
      .values({ bundle_id: `bdl_${nanoid()}`, tenant: by.tenant, imported_by: by.actor, ...bundle })
      .returning(['bundle_id', 'run_id', 'kind', 'count', 'seal_hash', 'imported_by', 'created_at'])
      .executeTakeFirstOrThrow();
    let number = 0;
    for await (const batch of batches(lines)) {
      await sql`INSERT INTO bundle_lines (bundle_id, number, line)
        SELECT ${kept.bundle_id}, ${number} + place, line
        FROM unnest(${batch}::text[]) WITH ORDINALITY AS l (line, place)`.execute(db);
      number += batch.length;
    }
    const detail = { run_id: bundle.run_id, seal_hash: bundle.seal_hash };
    await appendAudit(db, [
      { tenant: by.tenant, actor: by.actor, event: 'bundle.import', subject: kept.bundle_id, detail },
    ]);
    return kept;
  });
}

async function* batches(lines: AsyncIterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const line of lines) {
    if (line !== '') batch.push(line);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

export const findBundle = (db: Db, tenant: string, bundle_id: string): Promise<ImportedBundle | undefined> =>
  db
    .selectFrom('bundles')
    .select(['bundle_id', 'run_id', 'kind', 'count', 'seal_hash', 'imported_by', 'created_at'])
    .where('tenant', '=', tenant)
    .where('bundle_id', '=', bundle_id)
    .executeTakeFirst();

export async function* readBundleLines(db: Db, bundle_id: string): AsyncGenerator<string> {
  let after = 0;
  while (true) {
    const { rows } = await sql<{ number: number; line: string }>`
      SELECT number, line FROM bundle_lines WHERE bundle_id = ${bundle_id} AND number > ${after}
      ORDER BY number LIMIT ${BATCH}`.execute(db);
    const last = rows.at(-1);
    if (!last) return;
    for (const { line } of rows) yield line;
    after = last.number;
  }
}
