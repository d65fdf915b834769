import { attempt, type Bench } from '../bench.js';

/** Far more clients than the machine can serve, each calling again as soon as it is answered: how many are refused, and how long the others wait. */
export async function measureOverload(bench: Bench): Promise<void> {
  const { capstans, options, load, findings, progress } = bench;
  for (const { name: subject, endpoint } of capstans)
    await attempt(bench, { part: 'overload', subject }, async () => {
      const { clients } = options;
      const overload = await load.overload({
        ...endpoint,
        in_flight: clients,
        overload_ms: options.overload_seconds * 1000,
      });
      findings.overload.push({ subject, clients, overload });
      progress.done(`overload, ${subject}: ${overload.accepted} accepted, ${overload.refused} refused`);
    });
}
