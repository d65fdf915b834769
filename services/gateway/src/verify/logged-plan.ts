import { Failure } from '@capstan/contracts';
import type { Store } from '@capstan/store';
import { verifyLoggedPlan } from '@capstan/store/record';
import type { RecordedRun } from './recorded-run.js';

/** The plan of a run, after checking that the run's own record matches the log. */
export async function loggedPlan(store: Store, { run, tenant }: RecordedRun): Promise<string | null> {
  const logged = await verifyLoggedPlan(store, tenant, run.run_id);
  if (!logged) throw new Failure('RECORD_BROKEN', { detail: `The record of ${run.run_id} does not match the log.` });
  return logged.plan_hash;
}
