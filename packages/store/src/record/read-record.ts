import { loneInvocationId, type Run } from '@capstan/contracts';
import type { Store } from '../open-store.js';
import { nextInvocations, type ReadEntry, readInvocationEntries, readStepEntries } from './read-entries.js';

export type { ReadEntry };

const BATCH = 500;

/** The steps of a run's plan, and then its invocations, page by page; sealed or not. */
export async function* readRecord(
  { db }: Store,
  { run_id, kind }: Pick<Run, 'run_id' | 'kind'>,
): AsyncGenerator<ReadEntry[]> {
  if (kind === 'lone') {
    yield await readInvocationEntries(db, [loneInvocationId(run_id)]);
    return;
  }
  let step: string | null = null;
  while (kind === 'plan') {
    const steps: ReadEntry[] = await readStepEntries(db, run_id, step, BATCH);
    const last = steps.at(-1);
    if (!last) break;
    yield steps;
    step = last.id;
  }
  let seq = '0';
  while (true) {
    const entries = await readInvocationEntries(db, await nextInvocations(db, run_id, seq, BATCH));
    const last = entries.at(-1);
    if (!last?.seq) return;
    yield entries;
    seq = last.seq;
  }
}
