import { afterAll, beforeAll, expect, test } from 'vitest';
import { hardestQueue } from '../../fixtures/queues.js';
import { type CampaignPostgres, startCampaignPostgres } from './campaign-postgres.js';
import { describeVerdict } from './describe-verdict.js';
import { runSeed, type Seed } from './run-seed.js';

/** A few seeds. `npm run faults` runs the others. */
const SEEDS: readonly Seed[] = [
  { seed: 1, queue: 'postgres', nemesis: 'kill' },
  ...hardestQueue.flatMap(({ name: queue }): Seed[] => [
    { seed: 2, queue, nemesis: queue === 'redis' ? 'redis-wiped' : 'lost-answers' },
    { seed: 3, queue, nemesis: 'read-only' },
  ]),
];

let postgres: CampaignPostgres;
beforeAll(async () => {
  postgres = await startCampaignPostgres();
});
afterAll(() => postgres.stop());

test.each(SEEDS)(
  'under $nemesis, no call is lost, doubled, late or stuck on the $queue queue (seed $seed)',
  async (seed) => {
    const verdict = await runSeed(seed, postgres);
    expect(verdict.history.ends.length).toBeGreaterThan(50);
    expect(verdict.violations, describeVerdict(verdict)).toEqual([]);
  },
);
