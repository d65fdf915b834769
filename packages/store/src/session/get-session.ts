import type { Session } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import type { SessionScope } from './session-scope.js';

/** A session is created by its first use: by an invocation, a file or a note. */
export async function getSession(db: Db, { tenant, session_id }: SessionScope): Promise<Session | null> {
  const { rows } = await sql<Omit<Session, 'session_id'>>`
    WITH used AS (
      SELECT count(*)::int AS invocations, min(created_at) AS first, max(coalesce(finished_at, created_at)) AS last
      FROM invocation_states WHERE tenant = ${tenant} AND session_id = ${session_id}
    ), notes AS (
      SELECT count(*)::int AS notes FROM scratchpad WHERE tenant = ${tenant} AND session_id = ${session_id}
    )
    SELECT used.invocations, notes.notes, coalesce(files, 0) AS files, coalesce(size_bytes, 0)::float8 AS size_bytes,
      least(used.first, sessions.created_at) AS first_used_at, greatest(used.last, sessions.used_at) AS last_used_at
    FROM used CROSS JOIN notes LEFT JOIN sessions ON tenant = ${tenant} AND session_id = ${session_id}
  `.execute(db);
  const [found] = rows;
  return found?.first_used_at ? { session_id, ...found } : null;
}
