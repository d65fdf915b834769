import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { Mismatch, Run, Verification, VerifyLine } from '@capstan/contracts';
import { readSuperseded } from '@capstan/store/merkle';
import { verifyLoggedRun, verifySealedRun } from '@capstan/store/record';
import { readVoidedSeals } from '@capstan/store/seal';
import type { GatewayContext } from '../gateway-context.js';
import { type RecordedRun, toLogCheckpoint } from './recorded-run.js';

const MAX_MISMATCHES = 1000;

/** Verifies page by page, in constant memory, and serves other requests in between. */
async function* verifyRecord(
  { store }: Pick<GatewayContext, 'store'>,
  { run, tenant, seal, checkpoint }: RecordedRun,
): AsyncGenerator<VerifyLine> {
  const { run_id } = run;
  const found: Verification = {
    ...{ ok: true, run_id, checked: 0, mismatches: [], more: 0, removed: [], removed_more: 0, seal },
    checkpoint: checkpoint && toLogCheckpoint(checkpoint),
    superseded: await readSuperseded(store.db, tenant, run_id),
    voided: await readVoidedSeals(store.db, run_id),
  };
  const note = (mismatches: Mismatch[]) => {
    if (mismatches.length > 0) found.ok = false;
    const room = MAX_MISMATCHES - found.mismatches.length;
    found.mismatches.push(...mismatches.slice(0, room));
    found.more += Math.max(0, mismatches.length - room);
  };
  const total = seal?.count ?? run.total_steps + 1;
  const steps = seal ? verifySealedRun(store, seal) : verifyLoggedRun(store, tenant, run, checkpoint ?? undefined);
  for await (const { checked, mismatches, removed } of steps) {
    found.checked += checked;
    note(mismatches);
    const room = MAX_MISMATCHES - found.removed.length;
    found.removed.push(...removed.slice(0, room));
    found.removed_more += Math.max(0, removed.length - room);
    yield { kind: 'progress', checked: found.checked, total, mismatches: found.mismatches.length + found.more };
    await setImmediate();
  }
  yield { kind: 'done', ...found };
}

const PATIENCE_MS = 2000;

/** Sends progress lines while it waits for the run to be in the log, so that clients and proxies do not time out. */
export async function* verifyWhenRecorded(
  gateway: Pick<GatewayContext, 'store'>,
  { total_steps }: Run,
  record: () => Promise<RecordedRun>,
): AsyncGenerator<VerifyLine> {
  const waited = new AbortController();
  const recorded = record().finally(() => waited.abort());
  // It may fail while the reader is slow; the failure is thrown by the await below.
  recorded.catch(() => {});
  while (!waited.signal.aborted) {
    yield { kind: 'progress', checked: 0, total: total_steps, mismatches: 0 };
    await Promise.race([recorded, delay(PATIENCE_MS, null, { signal: waited.signal }).catch(() => null)]);
  }
  yield* verifyRecord(gateway, await recorded);
}

export async function verified(gateway: Pick<GatewayContext, 'store'>, recorded: RecordedRun): Promise<Verification> {
  for await (const line of verifyRecord(gateway, recorded))
    if (line.kind === 'done') {
      const { kind: _, ...verification } = line;
      return verification;
    }
  throw new Error('a verification ended without a verdict');
}
