import { expect } from 'vitest';
import type { LineProcess } from '../fixtures/start-line-process.js';
import { DRAIN_MS } from './start-cluster.js';

/** The time to stop and settle what is left after the drain. */
const CLOSING_MS = 5_000;

/** Asks a worker to stop, and fails unless it exits with 0 in time. */
export async function stopInTime(worker: LineProcess | undefined): Promise<void> {
  worker?.kill('SIGTERM');
  const late = AbortSignal.timeout(DRAIN_MS + CLOSING_MS);
  const runsOn = new Promise((resolve) => late.addEventListener('abort', () => resolve('it runs on')));
  expect(await Promise.race([worker?.exited, runsOn])).toEqual({ code: 0, signal: null });
}
