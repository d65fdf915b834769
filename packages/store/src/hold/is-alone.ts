import { sql } from 'kysely';
import type { Db } from '../open-store.js';

/** Whether nobody else could release this actor's calls: every key of the tenant is theirs, and no other person has logged in. */
export async function isAlone(db: Db, tenant: string, actor: string): Promise<boolean> {
  const { rows } = await sql<{ alone: boolean }>`
    SELECT NOT EXISTS (SELECT FROM keys WHERE tenant = ${tenant} AND actor <> ${actor}
        AND roles::text[] && ARRAY['operate', 'admin', 'submit', 'audit'])
      AND NOT EXISTS (SELECT FROM identities WHERE tenant = ${tenant}) AS alone`.execute(db);
  return rows[0]?.alone ?? false;
}
