import { MAX_BULK } from '@capstan/contracts';
import { attempt, type Bench } from '../bench.js';
import type { MeasuredShape } from '../findings.js';
import { meterCosts } from '../meter.js';
import { perSecond, type Sample, SHAPES, type Shape, type Subject } from '../subject.js';

/**
 * Shape after shape, and within a shape round after round, everyone in turn: a busy minute of the machine hits all alike,
 * and a lone call is not measured while the load of another shape is still being sealed.
 */
export async function measureCalls(bench: Bench): Promise<void> {
  for (const shape of SHAPES) {
    const turns: { subject: Subject; count: number }[] = [];
    for (const subject of bench.subjects.filter(({ shapes }) => shapes.includes(shape)))
      await attempt(bench, { part: `warming up: ${shape}`, subject: subject.name, shape }, async () => {
        turns.push({ subject, count: await calibrate(subject, shape, bench.options.seconds) });
      });
    for (let round = 1; round <= bench.options.rounds; round++)
      for (const { subject, count } of turns)
        await measureOnce(bench, subject, { round, shape }, () => subject.measure(shape, count));
  }
}

/** One measurement with what it cost, among the findings. */
export async function measureOnce(
  bench: Bench,
  subject: Subject,
  { round, shape }: { round: number; shape: MeasuredShape },
  measure: () => Promise<Sample>,
): Promise<void> {
  const part = `round ${round} of ${bench.options.rounds}: ${shape}`;
  await attempt(bench, { part, subject: subject.name, shape }, async () => {
    const stop = await meterCosts(subject.processes(), bench.postgres);
    const sample = await measure();
    const costs = await stop(sample.count + (sample.beside ?? 0));
    bench.findings.measurements.push({ round, subject: subject.name, shape, sample, costs });
    bench.progress.done(`${part}, ${subject.name}: ${Math.round(perSecond(sample))}/s`);
  });
}

const FIRST_COUNT: Record<Shape, number> = { lone: 100, in_flight_50: 1_000, in_flight_500: 2_000, bulk: MAX_BULK };

/**
 * Determines the number of calls for a measurement of about this many seconds. The trial runs, each four times as long as the one before, also warm
 * up the system: the first run in a fresh process has half the rate of the third.
 */
export async function calibrate(subject: Subject, shape: Shape, seconds: number): Promise<number> {
  for (let count = FIRST_COUNT[shape]; ; count *= 4) {
    const sample = await subject.measure(shape, count);
    if (sample.elapsed_ms < seconds * 300) continue;
    return roundToRequests(shape, perSecond(sample) * seconds);
  }
}

function roundToRequests(shape: Shape, count: number): number {
  if (shape !== 'bulk') return Math.ceil(count);
  return Math.max(1, Math.round(count / MAX_BULK)) * MAX_BULK;
}
