import { Failure } from '@capstan/contracts';
import { type Store, verifyLoggedPlan } from '@capstan/store';
import type { RecordedRun } from './recorded-run.js';

/** The plan of a run whose own record is what the log has of it. */
export async function loggedPlan(store: Store, { run, tenant }: RecordedRun): Promise<string | null> {
  const logged = await verifyLoggedPlan(store, tenant, run.run_id);
  if (!logged)
    throw new Failure('RECORD_BROKEN', { detail: `The record of ${run.run_id} is not what the log has of it.` });
  return logged.plan_hash;
}
