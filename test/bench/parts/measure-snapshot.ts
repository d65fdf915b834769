import { attempt, type Bench } from '../bench.js';
import type { Bloat } from '../findings.js';
import { perSecond } from '../subject.js';
import { calibrate, measureOnce } from './measure-calls.js';

/** Their rows come and go with every call; all others are written once. */
const CHURNED = ['work', 'claims'];
const MEGABYTE = 1_048_576;

/**
 * 50 in flight before somebody opens a transaction and leaves it open, and at the end of that time, under load all the while. Dead rows
 * pile up meanwhile; what is measured of them is how many bytes a call leaves, and that the space is used again afterwards.
 */
export async function measureSnapshot(bench: Bench): Promise<void> {
  const { options, progress, postgres, findings } = bench;
  for (const capstan of bench.capstans)
    await attempt(bench, { part: 'snapshot', subject: capstan.name, shape: 'pinned_snapshot' }, async () => {
      const { database_url } = capstan;
      const count = await calibrate(capstan, 'in_flight_50', options.seconds);
      const measure = () => capstan.measure('in_flight_50', count);
      await measureOnce(bench, capstan, { round: 1, shape: 'before_snapshot' }, measure);
      await postgres.vacuum(database_url, CHURNED);
      const before = await postgres.sizesOf(database_url, CHURNED);
      const release = await postgres.holdSnapshot(database_url);
      let calls = count;
      try {
        const until = performance.now() + options.snapshot_seconds * 1000;
        for (; performance.now() < until; calls += count)
          progress.doing(`snapshot held, ${capstan.name}: ${Math.round(perSecond(await measure()))}/s`);
        await measureOnce(bench, capstan, { round: 1, shape: 'pinned_snapshot' }, measure);
      } finally {
        await release();
      }
      const held = await postgres.sizesOf(database_url, CHURNED);
      await postgres.vacuum(database_url, CHURNED);
      await measure();
      const after = await postgres.sizesOf(database_url, CHURNED);
      findings.bloat.push({
        subject: capstan.name,
        calls,
        bytes_per_call: Object.fromEntries(
          CHURNED.map((table) => [table, Math.max(0, (held[table] ?? 0) - (before[table] ?? 0)) / calls]),
        ),
        megabytes: { held: sum(held) / MEGABYTE, after: sum(after) / MEGABYTE },
      });
    });
}

const sum = (sizes: Readonly<Record<string, number>>): number =>
  Object.values(sizes).reduce((all, one) => all + one, 0);

export const renderBloat = (bloat: readonly Bloat[]): string =>
  bloat
    .map(({ subject, calls, bytes_per_call, megabytes }) => {
      const tables = Object.entries(bytes_per_call).map(([table, bytes]) => `${table} ${bytes.toFixed(1)}`);
      return (
        `Dead rows while a snapshot was held over ${calls} calls, ${subject}: ${tables.join(', ')} bytes a call; ` +
        `${megabytes.held.toFixed(1)} MB, and ${megabytes.after.toFixed(1)} MB after it was released, vacuumed and loaded again`
      );
    })
    .join('\n');
