import { setTimeout as delay } from 'node:timers/promises';
import type { Backbone } from '@capstan/backbone';
import type { SealKey } from '@capstan/integrity';
import { findUnsealedLone, findUnsealedRuns, forgetPending, sealLone, sealRun } from '@capstan/store';

const RUNS = 20;
export const LONE_BATCH = 500;
/**
 * Work comes first: after each batch sealing rests for so many times as long as it took, so that it takes a quarter of a
 * core at most. Nobody waits for it: whoever asks for a seal that is not there yet has it made at once.
 */
const REST = 3;
/** Where everything is slow, so was the batch: that is no reason to fall behind for long. */
const MAX_REST_MS = 200;

function createRest(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    await delay(Math.min(MAX_REST_MS, REST * (performance.now() - began)));
    began = performance.now();
  };
}

/** Seals runs that have ended. Each is locked for a batch at a time, so that several coordinators share the work. */
export async function sealRuns({ store }: Pick<Backbone, 'store'>, key: SealKey | null): Promise<number> {
  const rest = createRest();
  const run_ids = await findUnsealedRuns(store, RUNS);
  for (const run_id of run_ids) {
    await sealRun(store, run_id, key, rest);
    await rest();
  }
  return run_ids.length;
}

/** Lone invocations, some time after they ended. */
export async function sealLoneInvocations({ store }: Pick<Backbone, 'store'>, key: SealKey | null): Promise<number> {
  const rest = createRest();
  const ended = await findUnsealedLone(store, LONE_BATCH);
  await sealLone(store, ended, key);
  await forgetPending(store, ended);
  if (ended.length > 0) await rest();
  return ended.length;
}
