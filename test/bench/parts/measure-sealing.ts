import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '@capstan/store';
import { hasDueForLog } from '@capstan/store/merkle';
import { attempt, type Bench } from '../bench.js';
import type { CapstanUnderTest } from '../capstan-under-test.js';
import { calibrate, measureOnce } from './measure-calls.js';

/**
 * 50 in flight with the coordinator, which seals what has ended, and without it, in turns. There is no switch for sealing, and the
 * calls of this load need nothing else of a coordinator. That it did seal shows in its CPU time per call.
 */
export async function measureSealing(bench: Bench): Promise<void> {
  for (const capstan of bench.capstans)
    await attempt(bench, { part: 'sealing', subject: capstan.name, shape: 'with_sealing' }, async () => {
      const count = await calibrate(capstan, 'in_flight_50', bench.options.seconds);
      const measure = () => capstan.measure('in_flight_50', count);
      for (let round = 1; round <= bench.options.rounds; round += 1) {
        await measureOnce(bench, capstan, { round, shape: 'with_sealing' }, measure);
        await capstan.stop('coordinator');
        try {
          await measureOnce(bench, capstan, { round, shape: 'without_sealing' }, measure);
        } finally {
          await capstan.start('coordinator');
          await catchUp(capstan);
        }
      }
    });
}

const CATCH_UP_MS = 60_000;

/** Until the new coordinator has sealed what ended without one: that would be counted against the calls of the next round. */
async function catchUp({ database_url }: CapstanUnderTest): Promise<void> {
  const store = openStore({ url: database_url, name: 'bench', connections: 1 });
  try {
    const until = performance.now() + CATCH_UP_MS;
    while (await hasDueForLog(store)) {
      if (performance.now() > until) throw new Error(`the log was still behind after ${CATCH_UP_MS / 1000} s`);
      await delay(100);
    }
  } finally {
    await store.close();
  }
}
