import { MAX_BULK } from '@capstan/contracts';
import { perSecond } from './sample.js';
import type { Shape, Subject } from './subject.js';

const FIRST_COUNT: Record<Shape, number> = { lone: 100, in_flight_50: 1_000, in_flight_500: 2_000, bulk: MAX_BULK };

/**
 * How many to put through for a measurement of about so many seconds. The trial runs, each four times the one before, also warm up
 * what is measured: a first run in a fresh process has half the rate of the third.
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
