import { attempt, type Bench } from '../bench.js';
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
        }
      }
    });
}
