import { setTimeout as delay } from 'node:timers/promises';
import { attempt, type Bench } from '../bench.js';
import { cpuOf } from '../meter.js';

/** The cost of an idle system: statements in its database, and CPU time of its processes. */
export async function measureIdle(bench: Bench): Promise<void> {
  const { capstans, options, postgres, findings, progress } = bench;
  await delay(options.settle_seconds * 1000);
  for (const capstan of capstans)
    await attempt(bench, { part: 'idle', subject: capstan.name }, async () => {
      const services = capstan.services();
      const before = services.map(cpuOf);
      const started = performance.now();
      const statements = await postgres.countStatements(capstan.database_url, () => delay(options.idle_seconds * 1000));
      const elapsed_ms = performance.now() - started;
      const cpu_percent = services.flatMap((service, index): [string, number][] => {
        const [from, to] = [before[index], cpuOf(service)];
        return from === undefined || to === undefined ? [] : [[service.name, (to - from) / elapsed_ms / 10]];
      });
      const statements_per_second = (statements / elapsed_ms) * 1000;
      findings.idle.push({
        subject: capstan.name,
        statements_per_second,
        cpu_percent: Object.fromEntries(cpu_percent),
      });
      progress.done(`idle, ${capstan.name}: ${statements_per_second.toFixed(1)} statements a second`);
    });
}
