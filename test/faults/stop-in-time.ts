import { expect } from 'vitest';
import type { LineProcess } from '../fixtures/start-line-process.js';
import { DRAIN_MS } from './start-cluster.js';

/** To stop what is left after its grace, settle it and end. */
const CLOSING_MS = 5_000;

/** Asks a worker to end and fails unless it does so within its grace, and in good order. */
export async function stopInTime(worker: LineProcess | undefined): Promise<void> {
  worker?.kill('SIGTERM');
  const late = AbortSignal.timeout(DRAIN_MS + CLOSING_MS);
  const runsOn = new Promise((resolve) => late.addEventListener('abort', () => resolve('it runs on')));
  expect(await Promise.race([worker?.exited, runsOn])).toEqual({ code: 0, signal: null });
}
