import { attempt, type Bench } from '../bench.js';
import { perSecond } from '../subject.js';
import { calibrate, measureOnce } from './measure-calls.js';

/** 50 in flight before somebody opens a transaction and leaves it open, and at the end of that time, under load all the while. */
export async function measureSnapshot(bench: Bench): Promise<void> {
  const { options, progress, postgres } = bench;
  for (const capstan of bench.capstans)
    await attempt(bench, { part: 'snapshot', subject: capstan.name, shape: 'pinned_snapshot' }, async () => {
      const count = await calibrate(capstan, 'in_flight_50', options.seconds);
      const measure = () => capstan.measure('in_flight_50', count);
      await measureOnce(bench, capstan, { round: 1, shape: 'before_snapshot' }, measure);
      const release = await postgres.holdSnapshot(capstan.database_url);
      try {
        const until = performance.now() + options.snapshot_seconds * 1000;
        while (performance.now() < until)
          progress.doing(`snapshot held, ${capstan.name}: ${Math.round(perSecond(await measure()))}/s`);
        await measureOnce(bench, capstan, { round: 1, shape: 'pinned_snapshot' }, measure);
      } finally {
        await release();
      }
    });
}
