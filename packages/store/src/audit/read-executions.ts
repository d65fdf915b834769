import type { AuditedExecution, JsonObject } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';

/** An execution, with the inputs from which its command is built. */
export type ReadExecution = Omit<AuditedExecution, 'action' | 'command'> & { inputs: JsonObject };

export async function readExecutions(db: Db, tenant: string, ids: readonly string[]): Promise<ReadExecution[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<ReadExecution>`
    SELECT i.invocation_id, i.tool_id, i.runner, i.session_id, i.inputs, r.status, r.started_at, r.duration_ms, r.exit_code,
      left(r.error, 500) AS error
    FROM invocations i JOIN results r ON r.invocation_id = i.invocation_id
    WHERE i.tenant = ${tenant} AND i.invocation_id = ANY (${ids})`.execute(db);
  return rows;
}
