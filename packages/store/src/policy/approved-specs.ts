import { sql } from 'kysely';
import type { Db } from '../open-store.js';

export type ApprovedSpec = { tenant: string; spec_hash: string };

/** The specifications that grants approve. A used-up grant still covers the calls that used it. An expired or revoked one covers none. */
export async function approvedSpecs(db: Db): Promise<ApprovedSpec[]> {
  const { rows } = await sql<ApprovedSpec>`
    SELECT DISTINCT tenant, plan_hash AS spec_hash FROM grants
    WHERE kind = 'plan' AND revoked_at IS NULL AND expires_at > now()`.execute(db);
  return rows;
}
