import { setTimeout as delay } from 'node:timers/promises';
import { INSTALLATION_POLICY } from '@capstan/contracts';
import { endAll } from '../../fixtures/at-end.js';
import { OPEN_INSTALLATION } from '../../fixtures/open-installation.js';
import type { CampaignPostgres } from './campaign-postgres.js';
import type { History, Operated } from './history.js';
import { judgeHistory, type Violation } from './judge-history.js';
import { NEMESES, type NemesisName } from './nemeses.js';
import { observeEnds, untilQuiet } from './observe-ends.js';
import { openSite } from './open-site.js';
import { seededRandom } from './seeded-random.js';
import { startEffectServer } from './start-effect-server.js';
import { POLICY, Workload } from './workload.js';

export interface Seed {
  readonly seed: number;
  readonly queue: 'redis' | 'postgres';
  readonly nemesis: NemesisName;
}

export interface Verdict extends Seed {
  readonly history: History;
  readonly violations: readonly Violation[];
  readonly crashes: readonly string[];
  /** The time from the end of the fault until nothing was left to do. */
  readonly recovery_ms: number;
}

/** How long the load runs before the fault and after it. */
const CALM_MS = 1_000;
/** A dead peer costs at most 15 s; after that its work is done. */
const PATIENCE_MS = 30_000;

/** Runs one system with one load and one fault, and then checks every call against the model. Everything is stopped afterwards. */
export async function runSeed({ seed, queue, nemesis }: Seed, postgres: CampaignPostgres): Promise<Verdict> {
  const name = `seed_${seed}_${queue}_${process.pid}`;
  const database = await postgres.createDatabase(name, { on_small_disk: nemesis === 'full-disk' });
  try {
    return await judged({ seed, queue, nemesis }, postgres, database.url);
  } finally {
    await endAll();
    await database.drop();
  }
}

async function judged(of: Seed, postgres: CampaignPostgres, database_url: string): Promise<Verdict> {
  const random = seededRandom(of.seed);
  const operations: Operated[] = [];
  const note = (operated: Operated) => void operations.push(operated);
  const site = await openSite({ queue: of.queue, database_url, fraction: random.fraction });
  const tool = await startEffectServer(note);
  await site.client.policies.put(INSTALLATION_POLICY, OPEN_INSTALLATION);
  await site.client.policies.put('default', POLICY);

  const workload = new Workload({ client: site.client, random, tool, prefix: `s${of.seed}`, note });
  const load = new AbortController();
  const loaded = workload.goOnUntil(load.signal);
  let healed = 0;
  try {
    await delay(CALM_MS);
    await NEMESES[of.nemesis].strike({ site, postgres, random });
    healed = performance.now();
    await delay(CALM_MS);
  } finally {
    load.abort();
    await loaded;
  }

  const observer = await site.openObserver();
  await workload.finish(observer);
  await untilQuiet(observer, PATIENCE_MS);
  const recovery_ms = performance.now() - healed;
  const { ends, recorded } = await observeEnds(observer);
  const history: History = { calls: workload.calls, operations: [...operations, ...recorded], ends };
  return { ...of, history, violations: judgeHistory(history), crashes: site.crashes, recovery_ms };
}
