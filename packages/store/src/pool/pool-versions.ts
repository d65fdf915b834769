import type { Descriptor, Pool, ToolChanges } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db, Store } from '../open-store.js';
import { type Actor, replaceToolsIn } from '../tool/replace-tools.js';

export type PoolVersion = { version: string; descriptors: Descriptor[] };

/** A version that has not been served for this long is deleted. */
const FORGET_AFTER = sql`interval '7 days'`;

const ALIVE = (pool: Pool) => sql`
  SELECT version FROM workers WHERE runners = ARRAY['app/' || ${pool}] AND lease_until > now() AND stopped_at IS NULL`;

/**
 * Registers a version and makes its tools those of the pool. If the version is already known, for example because a worker restarted during a
 * rollout, it does not replace a later one that has workers.
 */
export async function putPoolVersion(
  store: Store,
  by: Actor,
  pool: Pool,
  { version, descriptors }: PoolVersion,
): Promise<ToolChanges> {
  return store.db.transaction().execute(async (db) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext(${`pool:${pool}`}))`.execute(db);
    const text = JSON.stringify(descriptors);
    const { rows } = await sql<{ behind: boolean }>`
      SELECT EXISTS (
        SELECT FROM pool_versions mine JOIN pool_versions later ON later.pool = mine.pool AND later.put_at > mine.put_at
        WHERE mine.pool = ${pool} AND mine.version = ${version} AND mine.descriptors::text = ${text}
          AND later.version IN (${ALIVE(pool)})) AS behind`.execute(db);
    if (rows[0]?.behind) return { added: [], changed: [], removed: [] };
    await sql`
      INSERT INTO pool_versions (pool, version, descriptors, put_at) VALUES (${pool}, ${version}, ${text}::json, clock_timestamp())
      ON CONFLICT (pool, version) DO UPDATE SET descriptors = excluded.descriptors, put_at = excluded.put_at`.execute(
      db,
    );
    await sql`
      DELETE FROM pool_versions WHERE pool = ${pool} AND put_at < now() - ${FORGET_AFTER} AND version <> ${version}
        AND version NOT IN (SELECT version FROM (${ALIVE(pool)}) AS served WHERE version IS NOT NULL)`.execute(db);
    return replaceToolsIn(db, by, { source: 'app', origin: pool, descriptors });
  });
}

/** The versions of a pool, newest first. */
export const readPoolVersions = (db: Db, pool: Pool): Promise<PoolVersion[]> =>
  db
    .selectFrom('pool_versions')
    .select(['version', 'descriptors'])
    .where('pool', '=', pool)
    .orderBy('put_at', 'desc')
    .execute();

/** The versions that live workers of a pool serve. */
export async function servedVersions(db: Db, pool: Pool): Promise<string[]> {
  const { rows } = await sql<{
    version: string | null;
  }>`SELECT DISTINCT version FROM (${ALIVE(pool)}) AS served`.execute(db);
  return rows.flatMap(({ version }) => version ?? []);
}
