import { setTimeout as delay } from 'node:timers/promises';
import { Failure, isRunOver, type LogCheckpoint, type Principal, type Run } from '@capstan/contracts';
import { CheckpointError, parseCheckpoint, type Seal } from '@capstan/integrity';
import { appendToLog, readCheckpoint, readStanding, type StoredCheckpoint } from '@capstan/store/merkle';
import { readSeal } from '@capstan/store/seal';
import type { GatewayContext } from '../gateway-context.js';
import { readRun } from '../run/control-run.js';

/**
 * A run that is over, and what its record is verified against: a checkpoint of the tenant's log, or a seal from before the log
 * existed.
 */
export type RecordedRun = { run: Run; tenant: string; seal: Seal | null; checkpoint: StoredCheckpoint | null };

const PATIENCE_MS = 10_000;
const PAUSE_MS = 50;

/** Appends ends that are not in the log yet, instead of waiting for the coordinator. */
export async function recordedRun(gateway: GatewayContext, principal: Principal, run_id: string): Promise<RecordedRun> {
  const run = await readOver(gateway, principal, run_id);
  const { store, seal_key } = gateway;
  const { tenant } = principal;
  const seal = await readSeal(store.db, run_id);
  if (seal) return { run, tenant, seal, checkpoint: null };
  const until = performance.now() + PATIENCE_MS;
  while (true) {
    const { pending, last } = await readStanding(store.db, tenant, run_id);
    if (pending === 0) {
      const checkpoint = last === null ? undefined : await readCheckpoint(store.db, tenant, last);
      return { run, tenant, seal: null, checkpoint: checkpoint ?? null };
    }
    if (performance.now() > until) throw heldBack(run_id);
    if ((await appendToLog(store, seal_key, { wait: true })) === 0) await delay(PAUSE_MS);
  }
}

export async function readOver(gateway: GatewayContext, principal: Principal, run_id: string): Promise<Run> {
  const run = await readRun(gateway, principal, run_id);
  if (!isRunOver(run.status)) throw notOver(run);
  return run;
}

export const toLogCheckpoint = ({ note, key }: StoredCheckpoint): LogCheckpoint => {
  const { origin, size, root } = readable(note);
  return { origin, size, root: `sha256:${root.toString('hex')}`, note, key };
};

const readable = (note: string) => {
  try {
    return parseCheckpoint(note);
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    throw new Failure('RECORD_BROKEN', {
      detail: `A checkpoint of the log was changed: ${error.message}.`,
      cause: error,
    });
  }
};

const notOver = ({ run_id, status }: Run): Failure =>
  new Failure('RUN_NOT_OVER', {
    detail: `${run_id} is ${status}; its record is complete when it has ended.`,
    context: { status },
  });

const heldBack = (run_id: string): Failure =>
  new Failure('RUN_NOT_OVER', {
    detail: `The end of ${run_id} is not in the log yet: an open transaction in the database holds the log back.`,
    suggestion: 'Try again shortly. If it persists, look for a long transaction in pg_stat_activity.',
  });
