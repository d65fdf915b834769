import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { CampaignPostgres } from './campaign-postgres.js';
import type { Member, Site } from './open-site.js';
import type { Random } from './seeded-random.js';

export interface Stage {
  readonly site: Site;
  readonly postgres: CampaignPostgres;
  readonly random: Random;
}

/** A fault: `strike` causes it, waits, and ends it, unless it is permanent, such as a vanished host. */
export interface Nemesis {
  readonly on_redis_only?: boolean;
  strike(stage: Stage): Promise<void>;
}

/** Longer than a lease, so that the process is considered lost. */
const lastingFault = (random: Random) => delay(random.between(2_500, 4_500));

const anyMember = ({ site, random }: Stage, service = ''): Member => {
  const [first, ...rest] = site.members.filter(({ name }) => name.startsWith(service));
  if (first === undefined) throw new Error(`there is no ${service}`);
  return random.pick([first, ...rest]);
};

const several = async (random: Random, act: () => Promise<unknown> | unknown) => {
  for (let left = random.between(3, 5); left > 0; left -= 1) {
    await act();
    await delay(random.between(300, 1_000));
  }
};

/** Simulates a host that is gone: nothing arrives from it, nothing sent to it is answered, and no connection is closed. */
const vanish = (member: Member) => {
  member.postgres.silenceAll();
  member.redis?.silenceAll();
  member.process().kill('SIGSTOP');
};

const wipe = async (redis: Site['redis']) => {
  if (redis === null) return;
  const connection = new Redis(redis.url);
  await connection.flushall();
  connection.disconnect();
};

export const NEMESES = {
  none: { strike: ({ random }) => lastingFault(random) },
  kill: { strike: (stage) => several(stage.random, () => anyMember(stage).process().kill('SIGKILL')) },
  freeze: {
    async strike(stage) {
      const process = anyMember(stage).process();
      process.kill('SIGSTOP');
      await lastingFault(stage.random);
      process.kill('SIGCONT');
    },
  },
  backends: { strike: ({ random, postgres, site }) => several(random, () => postgres.endBackends(site.database_url)) },
  'lost-answers': {
    async strike({ site, random }) {
      const probability = random.pick([0.01, 0.03, 0.1]);
      for (const { postgres } of site.members) postgres.loseAnswers(probability);
      await lastingFault(random);
      for (const { postgres } of site.members) postgres.loseAnswers(0);
    },
  },
  'silent-postgres': {
    async strike({ site, random }) {
      for (const { postgres } of site.members) postgres.silenceOpen();
      await lastingFault(random);
    },
  },
  'silent-redis': {
    on_redis_only: true,
    async strike({ site, random }) {
      for (const { redis } of site.members) redis?.silenceOpen();
      await lastingFault(random);
    },
  },
  'vanished-coordinator': {
    async strike(stage) {
      // Gives the coordinators something to rescue and to redeliver. The one that takes the lock for that vanishes with it.
      anyMember(stage, 'worker').process().kill('SIGKILL');
      await wipe(stage.site.redis);
      const port = await stage.postgres.portOfLockHolder(stage.site.database_url);
      const holder = stage.site.members.find(({ postgres }) => port !== null && postgres.carries(port));
      vanish(holder?.name.startsWith('coordinator') ? holder : anyMember(stage, 'coordinator'));
      await lastingFault(stage.random);
    },
  },
  'vanished-worker': {
    async strike(stage) {
      vanish(anyMember(stage, 'worker'));
      await lastingFault(stage.random);
    },
  },
  'read-only': {
    async strike({ postgres, random }) {
      await postgres.setReadOnly(true);
      await lastingFault(random);
      await postgres.setReadOnly(false);
    },
  },
  'full-disk': {
    async strike({ postgres, random }) {
      const empty = await postgres.fillDisk();
      await lastingFault(random);
      await empty();
    },
  },
  'full-pool': {
    async strike({ postgres, site, random }) {
      const free = await postgres.takeAllConnections(site.database_url);
      await lastingFault(random);
      await free();
    },
  },
  clock: { strike: (stage) => several(stage.random, () => anyMember(stage).process().kill('SIGUSR2')) },
  'redis-wiped': {
    on_redis_only: true,
    strike: ({ site: { redis }, random }) =>
      several(random, async () => {
        if (random.between(0, 1) === 0) await wipe(redis);
        else await redis?.kill().then(() => redis.restart());
      }),
  },
  'held-snapshot': {
    async strike({ postgres, site, random }) {
      const release = await postgres.holdSnapshot(site.database_url);
      await lastingFault(random);
      await release();
    },
  },
} satisfies Record<string, Nemesis>;

export type NemesisName = keyof typeof NEMESES;
export const NEMESIS_NAMES = Object.keys(NEMESES) as [NemesisName, ...NemesisName[]];
