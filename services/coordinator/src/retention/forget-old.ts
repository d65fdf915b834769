import type { Backbone } from '@capstan/backbone';
import { DAY_MS, type KeptFor } from '@capstan/contracts';
import { type ArtifactStorage, deleteUnusedArtifacts } from '@capstan/store/artifact';
import { deleteOldEvents } from '@capstan/store/event';
import { dropLogDays, makeLogDays } from '@capstan/store/log';
import { deleteExpiredLogins } from '@capstan/store/login';
import { deleteOldMcpSessions } from '@capstan/store/mcp-session';
import {
  deleteOldFires,
  listRetentions,
  type RetentionRule,
  type RetentionWalk,
  recordsWalk,
  resultsWalk,
  retentionRules,
  runsWalk,
} from '@capstan/store/retention';
import { deleteOldSessions } from '@capstan/store/session';
import { deleteOldStats } from '@capstan/store/stats';
import { forgetWorkers } from '@capstan/store/worker';

const BATCH = 5000;
/** One day longer than the longest period that can be requested by the minute. */
const STATS_MINUTES_MS = 3 * DAY_MS;
/** Applies if records are kept forever. */
const STATS_HOURS_DAYS = 400;
/** A client that was inactive for this long has to open another session. */
const MCP_SESSION_MS = 7 * DAY_MS;

/** The progress of the retention sweep in this process. */
export type Forgetting = { results: RetentionWalk; records: RetentionWalk; runs: RetentionWalk; begins: boolean };
export const newForgetting = (): Forgetting => ({
  results: resultsWalk(),
  records: recordsWalk(),
  runs: runsWalk(),
  begins: true,
});

/**
 * Applies retention by the settings of each tenant, or those of the installation for tenants without any: first to results, then to
 * records. Returns more than 0 while there is more to do.
 */
export async function forgetOld(
  backbone: Backbone,
  installation: KeptFor,
  artifacts: ArtifactStorage,
  forgetting: Forgetting,
): Promise<number> {
  const { store, log } = backbone;
  if (forgetting.begins) await turnLogDays(backbone, () => makeLogDays(store));
  await forgetWorkers(store.db);
  await deleteExpiredLogins(store.db);
  const { records_days } = installation;
  await deleteOldStats(store.db, {
    minutes_ms: STATS_MINUTES_MS,
    hours_ms: (records_days ?? STATS_HOURS_DAYS) * DAY_MS,
  });
  if (records_days) await deleteOldFires(store, records_days * DAY_MS);
  await deleteOldMcpSessions(store, MCP_SESSION_MS);
  const rules = retentionRules(installation, await listRetentions(store.db));
  const forgotten = { sessions: 0, news: 0, results: 0, records: 0, artifacts: 0 };
  for (const rule of rules) {
    if (rule.sessions_ms !== null) forgotten.sessions += await deleteOldSessions(store, rule.sessions_ms, rule.tenants);
    forgotten.news += await deleteOldEvents(store, newsAge(rule), rule.tenants, BATCH);
  }
  const results = await forgetting.results.step(store, rules, BATCH);
  const runs = await forgetting.runs.step(store, rules, BATCH);
  const records = await forgetting.records.step(store, rules, BATCH);
  forgotten.results = results.count;
  forgotten.records = runs.count + records.count;
  forgotten.artifacts = await deleteUnusedArtifacts(store, artifacts, BATCH);
  const count = Object.values(forgotten).reduce((sum, one) => sum + one);
  if (count > 0) log.info(forgotten, 'retention sweep finished');
  forgetting.begins = !(results.more || runs.more || records.more || count > 0);
  if (!forgetting.begins) return Math.max(count, 1);
  const ages = [installation.results_days, records_days].filter((days) => days !== undefined && days !== null);
  if (ages.length > 0) await turnLogDays(backbone, () => dropLogDays(store, Math.min(...ages) * DAY_MS));
  return 0;
}

/**
 * Creates or drops partitions of `logs`. A long-running reader such as pg_dump blocks this, and so does a role that does not own the
 * tables. Log lines are still written and deleted in the meantime, and the next sweep tries again.
 */
async function turnLogDays({ log }: Backbone, turn: () => Promise<string[]>): Promise<void> {
  try {
    const days = await turn();
    if (days.length > 0) log.info({ days }, 'log partitions created or dropped');
  } catch (error) {
    log.warn({ err: error }, 'log partitions could not be created or dropped; will retry');
  }
}

/** Applies to tenants that keep results and sessions forever. */
const NEWS_MS = 30 * DAY_MS;

/** How long events are kept. The event of an ended call contains its result, so it is removed no later than the result. */
const newsAge = ({ results, sessions_ms }: RetentionRule): number =>
  Math.min(sessions_ms ?? NEWS_MS, ...results.map(({ ms }) => ms));
