import type { QueueName, Quota } from '@capstan/contracts';
import { sql } from 'kysely';
import { type Readied, readied } from '../claim/readied.js';
import type { Db, Store } from '../open-store.js';
import { addCall, budgetsOf, countUsage, limitReached, type Usage } from './count-usage.js';
import { listQuotas } from './quotas.js';
import { recordUses, type Use, warnNear } from './record-uses.js';

type Group = { quota_scopes: string[]; tenant: string };
type Waiting = Group & { invocation_id: string; runner: QueueName; tool_id: string };
type Turn = {
  quotas: Map<string, Quota>;
  usages: Map<string, Usage>;
  counted: Set<string>;
  costOf(tool_id: string): number;
};

const AWAITING = sql`quota_scopes IS NOT NULL AND status = 'deferred' AND run_at IS NULL`;
const MAX_GROUPS = 10_000;

export type PromoteOptions = {
  limit: number;
  /** The expected cost of a call of this tool. */
  costOf(tool_id: string): number;
  /** When each tenant was last served; the one that has waited longest is next. */
  served: Map<string, number>;
};

/**
 * Queues calls that wait for a quota, as far as there is room. One process at a time does this, and it counts rows, so a process that
 * was killed leaves nothing to repair. Tenants take turns, one call each.
 */
export async function promoteWaiting(store: Store, { limit, costOf, served }: PromoteOptions): Promise<Readied> {
  return store.db.transaction().execute(async (db) => {
    const lock = await sql<{ mine: boolean }>`
      SELECT pg_try_advisory_xact_lock(hashtextextended('capstan:quota-promotion', 0)) AS mine`.execute(db);
    if (!lock.rows[0]?.mine) return readied([]);
    const groups = await waitingGroups(db);
    if (groups.length === 0) return readied([]);
    const turn = await openTurn(db, groups, costOf);
    const open = groups.filter(({ quota_scopes }) => roomFor(turn, quota_scopes) > 0);
    const candidates = await loadCandidates(db, turn, open, limit);
    const picked = pick(turn, candidates, limit, served);
    if (picked.length === 0) return readied([]);
    return queue(db, turn, picked);
  });
}

/** One index lookup for each pair of scopes and tenant, however many calls wait there. */
async function waitingGroups(db: Db): Promise<Group[]> {
  const { rows } = await sql<Group>`
    WITH RECURSIVE found AS (
      (SELECT quota_scopes, tenant FROM work WHERE ${AWAITING} ORDER BY quota_scopes, tenant LIMIT 1)
      UNION ALL
      (SELECT next.quota_scopes, next.tenant FROM found, LATERAL (
        SELECT quota_scopes, tenant FROM work
        WHERE ${AWAITING} AND (quota_scopes, tenant) > (found.quota_scopes, found.tenant)
        ORDER BY quota_scopes, tenant LIMIT 1) next)
    ) SELECT quota_scopes, tenant FROM found LIMIT ${MAX_GROUPS}`.execute(db);
  return rows;
}

async function openTurn(db: Db, groups: Group[], costOf: Turn['costOf']): Promise<Turn> {
  const scopes = new Set(groups.flatMap(({ quota_scopes }) => quota_scopes));
  // A quota that has been deleted no longer limits anything.
  const quotas = (await listQuotas(db)).filter(({ scope }) => scopes.has(scope));
  const usages = await countUsage(
    db,
    quotas.map(({ scope }) => scope),
    { budgets: budgetsOf(quotas), waiting: false },
  );
  return {
    quotas: new Map(quotas.map((quota) => [quota.scope, quota])),
    usages: new Map(usages.map((usage) => [usage.scope, usage])),
    counted: new Set(),
    costOf,
  };
}

/** The most calls that these scopes still allow. */
function roomFor({ quotas, usages }: Turn, scopes: readonly string[]): number {
  let room = Number.MAX_SAFE_INTEGER;
  for (const scope of scopes) {
    const max = quotas.get(scope)?.limits.max_concurrent;
    if (max !== undefined) room = Math.min(room, max - (usages.get(scope)?.live ?? 0));
  }
  return room;
}

async function loadCandidates(db: Db, turn: Turn, groups: Group[], limit: number): Promise<Waiting[]> {
  const wanted = groups.map((group) => ({ ...group, wanted: Math.min(limit, roomFor(turn, group.quota_scopes)) }));
  const { rows } = await sql<Waiting>`
    SELECT one.*, i.tool_id FROM json_to_recordset(${JSON.stringify(wanted)}::json) AS g (quota_scopes text[], tenant text, wanted int), LATERAL (
      SELECT invocation_id, runner, tenant, quota_scopes FROM work
      WHERE ${AWAITING} AND quota_scopes = g.quota_scopes AND tenant = g.tenant
      ORDER BY priority, seq LIMIT g.wanted FOR UPDATE SKIP LOCKED
    ) one JOIN invocations i ON i.invocation_id = one.invocation_id`.execute(db);
  const ids = rows.map(({ invocation_id }) => invocation_id);
  const { rows: counted } = await sql<{ scope: string; invocation_id: string }>`
    SELECT scope, invocation_id FROM quota_uses WHERE invocation_id = ANY (${ids}::text[])`.execute(db);
  for (const { scope, invocation_id } of counted) turn.counted.add(`${invocation_id} ${scope}`);
  return rows;
}

function pick(turn: Turn, candidates: Waiting[], limit: number, served: Map<string, number>): Waiting[] {
  const lines = new Map<string, Waiting[]>();
  for (const one of candidates) lines.set(one.tenant, [...(lines.get(one.tenant) ?? []), one]);
  const tenants = [...lines.keys()].sort((one, other) => (served.get(one) ?? 0) - (served.get(other) ?? 0));
  const picked: Waiting[] = [];
  for (let more = true; more && picked.length < limit; ) {
    more = false;
    for (const tenant of tenants) {
      const line = lines.get(tenant) ?? [];
      const at = line.findIndex((one) => fits(turn, one));
      const [one] = at >= 0 ? line.splice(at, 1) : [];
      if (at < 0) lines.delete(tenant);
      if (!one || picked.length >= limit) continue;
      take(turn, one);
      picked.push(one);
      served.set(tenant, performance.now());
      more = true;
    }
  }
  return picked;
}

const fits = (turn: Turn, { invocation_id, quota_scopes, tool_id }: Waiting): boolean =>
  quota_scopes.every((scope) => {
    const [quota, usage] = [turn.quotas.get(scope), turn.usages.get(scope)];
    return (
      !quota ||
      !usage ||
      limitReached(quota, usage, turn.costOf(tool_id), turn.counted.has(`${invocation_id} ${scope}`)) === null
    );
  });

function take(turn: Turn, { invocation_id, quota_scopes, tool_id }: Waiting): void {
  for (const scope of quota_scopes) {
    const usage = turn.usages.get(scope);
    if (usage) addCall(usage, turn.costOf(tool_id), turn.counted.has(`${invocation_id} ${scope}`));
  }
}

async function queue(db: Db, turn: Turn, picked: Waiting[]): Promise<Readied> {
  const ids = picked.map(({ invocation_id }) => invocation_id);
  await sql`UPDATE work SET status = 'queued' WHERE invocation_id = ANY (${ids}::text[]) AND status = 'deferred'`.execute(
    db,
  );
  const uses = picked.flatMap(({ invocation_id, quota_scopes, tool_id }): Use[] =>
    quota_scopes
      .filter((scope) => turn.quotas.has(scope) && !turn.counted.has(`${invocation_id} ${scope}`))
      .map((scope) => ({ scope, invocation_id, cost_units: turn.costOf(tool_id) })),
  );
  await recordUses(db, uses);
  await warnNear(db, [...turn.quotas.values()], turn.usages);
  return readied(picked);
}
