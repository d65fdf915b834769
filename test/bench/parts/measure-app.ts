import { z } from 'zod';
import { attempt, type Bench } from '../bench.js';
import type { Findings } from '../findings.js';
import { startOwnProcess } from '../own-process.js';
import { median } from '../report/statistics.js';
import { perSecond } from '../subject.js';

const IN_FLIGHT = 50;
const TARGET = 0.6;
const CALIBRATION = 2000;

/** Sums in a process of the user's own, through serveTools, beside the same sums in a worker of ours, in turns. */
export async function measureApp(bench: Bench): Promise<void> {
  const { capstans, options, findings, load } = bench;
  for (const { name: subject, endpoint } of capstans)
    await attempt(bench, { part: 'app', subject }, async () => {
      const worker = await startOwnProcess('./parts/app-worker.js');
      const url = `http://127.0.0.1:${endpoint.port}`;
      await worker.ask({ url, key: endpoint.api_key }, z.object({ worker_id: z.string() }));
      const measure = (calls: 'sum' | 'own', count: number) =>
        load.send({ ...endpoint, in_flight: IN_FLIGHT, count, calls });
      const warm = await measure('own', CALIBRATION);
      await measure('sum', CALIBRATION);
      const count = Math.round(Math.max(CALIBRATION, perSecond(warm) * options.seconds));
      for (let round = 1; round <= options.rounds; round += 1) {
        const own = perSecond(await measure('own', count));
        const builtin = perSecond(await measure('sum', count));
        bench.progress.done(`app, round ${round}, ${subject}: ${Math.round(own)}/s of ${Math.round(builtin)}/s`);
        findings.app.push({ round, subject, own, builtin });
      }
    });
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export const renderApp = (found: Findings['app']): string =>
  [...new Set(found.map(({ subject }) => subject))]
    .map((subject) => {
      const rounds = found.filter((round) => round.subject === subject);
      const ratio = median(rounds.map(({ own, builtin }) => own / builtin));
      const rate = whole.format(median(rounds.map(({ own }) => own)));
      const verdict = `target ≥ ${TARGET} ${ratio >= TARGET ? '✓' : '✗'}`;
      return `own tools through serveTools, ${IN_FLIGHT} in flight, ${subject} queue: ${rate}/s, ${ratio.toFixed(2)} of builtin, ${verdict}`;
    })
    .join('\n');
