import { expect } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import type { Ask } from './open-questions.js';

/** Waits until no call is held, deferred, queued or running. */
export async function untilAllEnded(ask: Ask, { timeout_ms = 60_000 } = {}): Promise<void> {
  await eventually(
    async () => {
      const open = await ask(
        `SELECT status, count(*)::int FROM invocation_states WHERE status IN ('held', 'deferred', 'queued', 'running') GROUP BY status`,
      );
      expect(open).toEqual([]);
    },
    { timeout_ms },
  );
}
