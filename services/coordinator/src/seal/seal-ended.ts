import type { Backbone } from '@capstan/backbone';
import type { SealKey } from '@capstan/integrity';
import { findUnsealedLone, findUnsealedRuns, forgetPending, sealLone, sealRun } from '@capstan/store';

const RUNS = 20;
const LONE = 500;

/** Seals runs that have ended. Each is locked for a batch at a time, so that several coordinators share the work. */
export async function sealRuns({ store }: Pick<Backbone, 'store'>, key: SealKey | null): Promise<number> {
  const run_ids = await findUnsealedRuns(store, RUNS);
  for (const run_id of run_ids) await sealRun(store, run_id, key);
  return run_ids.length;
}

/** Lone invocations, some time after they ended: whoever asks for the seal of one before that has it made at once. */
export async function sealLoneInvocations({ store }: Pick<Backbone, 'store'>, key: SealKey | null): Promise<number> {
  const ended = await findUnsealedLone(store, LONE);
  await sealLone(store, ended, key);
  await forgetPending(store, ended);
  return ended.length;
}
