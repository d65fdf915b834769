import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';

const FORGOTTEN_AT_ONCE = 100;

/** True if no gateway has seen the token before. It is remembered until it expires, and each call deletes a few expired ones. */
export async function useOnce(db: Db, token: string, expires_at: number): Promise<boolean> {
  const hash = createHash('sha256').update(token).digest();
  const { rows } = await sql`
    WITH old AS (
      DELETE FROM used_tokens WHERE ctid = ANY (ARRAY (
        SELECT ctid FROM used_tokens WHERE expires_at < now() LIMIT ${FORGOTTEN_AT_ONCE}
      ))
    )
    INSERT INTO used_tokens (token_hash, expires_at) VALUES (${hash}, ${new Date(expires_at).toISOString()})
    ON CONFLICT DO NOTHING RETURNING token_hash`.execute(db);
  return rows.length > 0;
}
