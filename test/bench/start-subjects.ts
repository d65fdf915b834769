import { type CapstanUnderTest, startCapstan } from './capstan-under-test.js';
import type { Cleanup } from './cleanup.js';
import { type LoadGenerator, startLoadGenerator } from './load-generator.js';
import type { Options } from './options.js';
import { startPrivatePostgres } from './private-postgres.js';
import { startPrivateRedis } from './private-redis.js';
import { startRawBullmq } from './raw-bullmq.js';
import type { Subject } from './subject.js';
import { makeTemporaryDirectory } from './temporary-directory.js';

export interface Subjects {
  /** In the order in which each round measures them. */
  readonly subjects: readonly Subject[];
  readonly capstans: readonly CapstanUnderTest[];
  readonly load: LoadGenerator;
}

/** All of them stay up for the whole run, on one Redis and one Postgres; only one at a time is under load, and idle ones cost nothing. */
export async function startSubjects(
  { only }: Options,
  cleanup: Cleanup,
  onDeath: (error: Error) => void,
): Promise<Subjects> {
  const directory = await makeTemporaryDirectory(cleanup);
  const redis_url = await startPrivateRedis({ directory, cleanup });
  const load = await startLoadGenerator(cleanup);
  const raw = only.includes('raw') ? [await startRawBullmq({ redis_url, cleanup })] : [];
  const capstans: CapstanUnderTest[] = [];
  const names = (['redis', 'postgres'] as const).filter((name) => only.includes(name));
  const postgres = names.length === 0 ? undefined : await startPrivatePostgres({ directory, cleanup });
  for (const name of names) {
    const database_url = (await postgres?.createDatabase(`bench_${name}`)) ?? '';
    const queue = name === 'redis' ? { redis_url } : {};
    capstans.push(await startCapstan({ name, database_url, ...queue, directory, load, cleanup, onDeath }));
  }
  return { subjects: [...raw, ...capstans], capstans, load };
}
