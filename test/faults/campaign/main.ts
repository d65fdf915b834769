import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { findRedisBinary } from '../../fixtures/find-redis-binary.js';
import { startCampaignPostgres } from './campaign-postgres.js';
import { describeVerdict } from './describe-verdict.js';
import { NEMESES, NEMESIS_NAMES, type Nemesis, type NemesisName } from './nemeses.js';
import { runSeed, type Seed } from './run-seed.js';

const USAGE = `npm run faults -- [options]
  --seeds N             how many seeds on each queue (10), each with the next nemesis in turn
  --seed N              only this seed, or the first of --seeds
  --queue Q             redis or postgres (both)
  --nemesis a,b         of ${NEMESIS_NAMES.join(', ')} (all)
  --out FILE            where the histories of seeds with violations go, as JSON (faults.json)`;

function parseOptions() {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string' },
      seed: { type: 'string' },
      queue: { type: 'string' },
      nemesis: { type: 'string', default: NEMESIS_NAMES.join(',') },
      out: { type: 'string', default: 'faults.json' },
    },
  });
  const nemeses = values.nemesis.split(',').map((text) => oneOf('nemesis', NEMESIS_NAMES, text));
  const queues = values.queue === undefined ? QUEUES : [oneOf('queue', QUEUES, values.queue)];
  const count = wholeNumber('seeds', values.seeds ?? (values.seed === undefined ? '10' : '1'));
  return { nemeses, queues, count, first: wholeNumber('seed', values.seed ?? '1'), out: values.out };
}

const QUEUES = ['postgres', 'redis'] as const;

function oneOf<Name extends string>(option: string, names: readonly Name[], text: string): Name {
  const name = names.find((known) => known === text);
  if (name === undefined) throw new Error(`--${option} takes ${names.join(', ')}, not «${text}»`);
  return name;
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${option} takes a whole number, not «${text}»`);
  return Number(text);
}

function plan({ nemeses, queues, count, first }: ReturnType<typeof parseOptions>): Seed[] {
  return Array.from({ length: count }, (_, index) => first + index).flatMap((seed) =>
    queues.flatMap((queue) => {
      const possible = nemeses.filter((name) => queue === 'redis' || !nemesisOf(name).on_redis_only);
      const nemesis = possible[seed % possible.length];
      return nemesis === undefined ? [] : [{ seed, queue, nemesis }];
    }),
  );
}

const nemesisOf = (name: NemesisName): Nemesis => NEMESES[name];

async function campaign(options: ReturnType<typeof parseOptions>): Promise<void> {
  const postgres = await startCampaignPostgres();
  const bad: object[] = [];
  try {
    for (const seed of plan(options)) {
      const left_out = whyLeftOut(seed, postgres.no_small_disk);
      if (left_out) {
        process.stdout.write(`seed ${seed.seed} ${seed.queue} ${seed.nemesis}: NOT RUN, ${left_out}\n`);
        continue;
      }
      try {
        const verdict = await runSeed(seed, postgres);
        process.stdout.write(`${describeVerdict(verdict)}\n`);
        if (verdict.violations.length > 0) bad.push(verdict);
      } catch (error) {
        // A system that no longer answers its observer is a finding, too, and the other seeds are still worth running.
        process.stdout.write(`seed ${seed.seed} ${seed.queue} ${seed.nemesis}: NOT JUDGED, ${String(error)}\n`);
        bad.push({ ...seed, error: String(error) });
      }
    }
  } finally {
    await postgres.stop();
  }
  if (bad.length === 0) return;
  await writeFile(options.out, JSON.stringify(bad, null, 2));
  process.stdout.write(`${bad.length} seeds with violations; their histories: ${options.out}\n`);
  process.exitCode = 1;
}

function whyLeftOut({ queue, nemesis }: Seed, no_small_disk: string | null): string | null {
  if (nemesis === 'full-disk' && no_small_disk !== null) return no_small_disk;
  return queue === 'redis' && findRedisBinary() === undefined ? 'there is no redis-server or valkey-server' : null;
}

function optionsOrUsage(): ReturnType<typeof parseOptions> {
  try {
    return parseOptions();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`);
    process.exit(2);
  }
}

await campaign(optionsOrUsage());
