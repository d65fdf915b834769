import type { Backbone } from '@capstan/backbone';
import type { KeptFor } from '@capstan/contracts';
import {
  type ArtifactStorage,
  deleteExpiredLogins,
  deleteOldEvents,
  deleteOldFires,
  deleteOldMcpSessions,
  deleteOldSessions,
  deleteOldStats,
  deleteUnusedArtifacts,
  forgetWorkers,
  listRetentions,
  type RetentionRule,
  removeRecords,
  removeResults,
  retentionRules,
} from '@capstan/store';

const BATCH = 5000;
const DAY_MS = 86_400_000;
/** A day longer than anybody may ask for by the minute. */
const STATS_MINUTES_MS = 3 * DAY_MS;
/** Where all else is kept for ever. */
const STATS_HOURS_DAYS = 400;
/** A client that has not been heard of for so long opens another session. */
const MCP_SESSION_MS = 7 * DAY_MS;

/** Retention: what each tenant keeps, and the installation for all others; results first, then the records themselves. */
export async function forgetOld(
  { store, log }: Backbone,
  installation: KeptFor,
  artifacts: ArtifactStorage,
): Promise<number> {
  await forgetWorkers(store.db);
  await deleteExpiredLogins(store.db);
  const { records_days } = installation;
  await deleteOldStats(store.db, {
    minutes_ms: STATS_MINUTES_MS,
    hours_ms: (records_days ?? STATS_HOURS_DAYS) * DAY_MS,
  });
  if (records_days) await deleteOldFires(store, records_days * DAY_MS);
  await deleteOldMcpSessions(store, MCP_SESSION_MS);
  const forgotten = { news: 0, results: 0, records: 0 };
  for (const rule of retentionRules(installation, await listRetentions(store.db))) {
    if (rule.sessions_ms !== null) await deleteOldSessions(store, rule.sessions_ms, rule.tenants);
    forgotten.news += await deleteOldEvents(store, newsAge(rule), rule.tenants, BATCH);
    forgotten.results += await removeResults(store, rule, BATCH);
    forgotten.records += await removeRecords(store, rule, BATCH);
  }
  await deleteUnusedArtifacts(store, artifacts, BATCH);
  const count = forgotten.news + forgotten.results + forgotten.records;
  if (count > 0) log.info(forgotten, 'forgot what is old');
  return count;
}

/** Where all else is kept for ever. */
const NEWS_MS = 30 * DAY_MS;

/** What was told of the end of a call has its result in it, and goes no later than that. */
const newsAge = ({ results, sessions_ms }: RetentionRule): number =>
  Math.min(sessions_ms ?? NEWS_MS, ...results.map(({ ms }) => ms));
