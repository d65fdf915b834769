import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { Mismatch, Run, Verification, VerifyLine } from '@capstan/contracts';
import { readVoidedSeals, verifyRun } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';
import type { SealedRun } from './sealed-run.js';

const MAX_MISMATCHES = 1000;

/** Page by page, in constant memory, with other requests served in between. */
export async function* verifyRecord(
  { store }: Pick<GatewayContext, 'store'>,
  { run, seal }: SealedRun,
): AsyncGenerator<VerifyLine> {
  const { run_id } = run;
  const voided = await readVoidedSeals(store.db, run_id);
  const found: Verification = {
    ...{ ok: true, run_id, checked: 0, mismatches: [], more: 0, removed: [], removed_more: 0, seal, voided },
  };
  const note = (mismatches: Mismatch[]) => {
    if (mismatches.length > 0) found.ok = false;
    const room = MAX_MISMATCHES - found.mismatches.length;
    found.mismatches.push(...mismatches.slice(0, room));
    found.more += Math.max(0, mismatches.length - room);
  };
  if (!seal) {
    note([
      {
        table: 'seals',
        row: run_id,
        field: 'row',
        stored: null,
        computed: null,
        why: 'the audit tells of a seal, and it is gone',
      },
    ]);
    yield { kind: 'done', ...found };
    return;
  }
  for await (const { checked, mismatches, removed } of verifyRun(store, seal)) {
    found.checked += checked;
    note(mismatches);
    const room = MAX_MISMATCHES - found.removed.length;
    found.removed.push(...removed.slice(0, room));
    found.removed_more += Math.max(0, removed.length - room);
    yield {
      kind: 'progress',
      checked: found.checked,
      total: seal.count,
      mismatches: found.mismatches.length + found.more,
    };
    await setImmediate();
  }
  yield { kind: 'done', ...found };
}

const PATIENCE_MS = 2000;

/** Of a run that is not sealed yet something is said now and then, so that nobody takes the silence for an end. */
export async function* verifyWhenSealed(
  gateway: Pick<GatewayContext, 'store'>,
  { total_steps }: Run,
  seal: () => Promise<SealedRun>,
): AsyncGenerator<VerifyLine> {
  const waited = new AbortController();
  const sealed = seal().finally(() => waited.abort());
  // It may fail while whoever reads this takes their time.
  sealed.catch(() => {});
  while (!waited.signal.aborted) {
    yield { kind: 'progress', checked: 0, total: total_steps, mismatches: 0 };
    await Promise.race([sealed, delay(PATIENCE_MS, null, { signal: waited.signal }).catch(() => null)]);
  }
  yield* verifyRecord(gateway, await sealed);
}

export async function verified(gateway: Pick<GatewayContext, 'store'>, sealed: SealedRun): Promise<Verification> {
  for await (const line of verifyRecord(gateway, sealed))
    if (line.kind === 'done') {
      const { kind: _, ...verification } = line;
      return verification;
    }
  throw new Error('a verification ended without a verdict');
}
