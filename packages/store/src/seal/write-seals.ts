import { type SealKey, type SealStatement, sealHash } from '@capstan/integrity';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';

export type NewSeal = Omit<SealStatement, 'sealed_at' | 'generation'>;

/** The moment is that of Postgres' clock; the generation is one more than what was voided. */
export async function writeSeals(db: Db, seals: readonly NewSeal[], key: SealKey | null): Promise<void> {
  if (seals.length === 0) return;
  const { rows } = await sql<{ run_id: string; generation: number; sealed_at: string }>`
    SELECT u.run_id, coalesce(max(s.generation), 0) + 1 AS generation, now() AS sealed_at
    FROM unnest(${seals.map(({ run_id }) => run_id)}::text[]) AS u (run_id) LEFT JOIN seals s ON s.run_id = u.run_id
    GROUP BY u.run_id`.execute(db);
  const next = new Map(rows.map((row) => [row.run_id, row]));
  const signed = seals.map((seal) => {
    const { generation = 1, sealed_at = '' } = next.get(seal.run_id) ?? {};
    const statement: SealStatement = { ...seal, generation, sealed_at };
    const seal_hash = sealHash(statement);
    return { ...statement, seal_hash, ...key?.sign(seal_hash) };
  });
  await sql`
    INSERT INTO seals (run_id, generation, tenant, root, count, first_id, last_id, plan_hash, policy_hash, sealed_at,
      seal_hash, signature, key_id, public_key)
    SELECT * FROM json_to_recordset(${JSON.stringify(signed)}::json)
      AS s (run_id text, generation int, tenant text, root text, count int, first_id text, last_id text, plan_hash text,
        policy_hash text, sealed_at timestamptz, seal_hash text, signature text, key_id text, public_key text)`.execute(
    db,
  );
}
