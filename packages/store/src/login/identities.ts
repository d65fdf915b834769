import { sql } from 'kysely';
import type { Store } from '../open-store.js';

export type BoundIdentity = { tenant: string; actor: string; iss: string; sub: string };

/**
 * The actor of an account: the name that it first logged in with, even if the provider has renamed it since. Null if the
 * name belongs to another account. An actor is therefore always one account, and so is a vote.
 */
export async function bindIdentity({ db }: Pick<Store, 'db'>, who: BoundIdentity): Promise<string | null> {
  const { tenant, actor, iss, sub } = who;
  const known = () =>
    db
      .selectFrom('identities')
      .select('actor')
      .where('tenant', '=', tenant)
      .where('iss', '=', iss)
      .where('sub', '=', sub)
      .executeTakeFirst();
  const found = await known();
  if (found) return found.actor;
  await sql`INSERT INTO identities (tenant, actor, iss, sub) VALUES (${tenant}, ${actor}, ${iss}, ${sub})
    ON CONFLICT DO NOTHING`.execute(db);
  return (await known())?.actor ?? null;
}
