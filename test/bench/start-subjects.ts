import { startTestRedis } from '../fixtures/start-test-redis.js';
import { type BenchPostgres, startBenchPostgres } from './bench-postgres.js';
import { type CapstanUnderTest, startCapstan } from './capstan-under-test.js';
import { type LoadGenerator, startLoadGenerator } from './load/load-generator.js';
import { startPeer } from './peers/start-peer.js';
import { CAPSTANS, PEERS, type Subject, type SubjectName } from './subject.js';

export interface Subjects {
  /** In the order in which each round measures them. */
  readonly subjects: readonly Subject[];
  readonly capstans: readonly CapstanUnderTest[];
  readonly load: LoadGenerator;
  readonly postgres: BenchPostgres;
  readonly redis_url: string;
}

/** All of them stay up for the whole run, on one Redis and one Postgres; only one at a time is under load. */
export async function startSubjects(only: readonly SubjectName[], onDeath: (error: Error) => void): Promise<Subjects> {
  const server = await startTestRedis(); // keeps nothing on disk: raw BullMQ at its fastest is the measure
  const redis = { url: server.url, process: { name: 'Redis', pid: server.pid } };
  const postgres = await startBenchPostgres();
  const load = await startLoadGenerator();
  const peers: Subject[] = [];
  for (const name of PEERS.filter((peer) => only.includes(peer))) {
    const on_redis = name === 'bullmq';
    const url = on_redis ? redis.url : await postgres.createDatabase(`bench_${name}`);
    peers.push(await startPeer(name, url, on_redis ? redis.process : postgres.process));
  }
  const capstans: CapstanUnderTest[] = [];
  for (const name of CAPSTANS.filter((capstan) => only.includes(capstan))) {
    const database_url = await postgres.createDatabase(`bench_${name}`);
    const own = { name, database_url, redis: name === 'redis' ? redis : null };
    capstans.push(await startCapstan({ ...own, postgres, load, onDeath }));
  }
  return { subjects: [...peers, ...capstans], capstans, load, postgres, redis_url: redis.url };
}
