import { type InvocationFilter, type InvocationStatus, isTerminal, loneInvocationId } from '@capstan/contracts';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

type Condition = RawBuilder<SqlBool>;

/** A WHERE clause over `invocation_states`, for filters that `ofOneKind` does not cover. It always includes the tenant. */
export function matching(tenant: string, filter: InvocationFilter): Condition {
  const all = conditions('invocation_states', tenant, filter);
  if (filter.status) all.push(sql`invocation_states.status = ANY (${filter.status})`);
  return and(all);
}

/** Calls by everything but their status, as FROM and WHERE clauses over `invocations i`. */
export const inAnyStatus = (tenant: string, filter: InvocationFilter): RawBuilder<unknown> =>
  sql`FROM invocations i WHERE ${and(conditions('i', tenant, filter))}`;

/** The statuses of a filter that matches only ended calls, or only calls that have not ended; null for any other filter. */
export function ofOneKind({ status }: InvocationFilter): InvocationStatus[] | null {
  return status && (status.every(isTerminal) || !status.some(isTerminal)) ? status : null;
}

/**
 * FROM and WHERE clauses for calls in statuses of one kind: `i` is the call, `e.status` its status. No index helps to search the view:
 * with 1,500,000 calls, looking for an ambiguous one took 7 s. Statuses are written out, because plans are generic: only so
 * Postgres knows that few calls have them, and may use the index of those that did not succeed.
 */
export function inStatuses(
  tenant: string,
  statuses: readonly InvocationStatus[],
  filter: InvocationFilter,
): RawBuilder<unknown> {
  const all = conditions('i', tenant, filter);
  const among = statuses.map((status) => sql.lit(status));
  all.push(among.length > 0 ? sql`e.status IN (${sql.join(among)})` : sql`false`);
  const areEnded = statuses.every(isTerminal);
  if (areEnded && !statuses.includes('succeeded')) all.push(sql`e.status <> 'succeeded'`);
  return sql`FROM invocations i JOIN ${areEnded ? sql`results` : live(tenant)} e ON e.invocation_id = i.invocation_id
    WHERE ${and(all)}`;
}

/**
 * Calls that have not ended. Connections turn sequential scans off, which Postgres does by adding a cost that dwarfs all others. So that
 * it can still compare plans, both tables are read through their primary keys.
 */
const live = (tenant: string): RawBuilder<unknown> => sql`(
    SELECT invocation_id, status FROM work WHERE tenant = ${tenant} AND invocation_id > ''
    UNION ALL
    SELECT id, CASE WHEN owned_at IS NULL THEN 'queued' ELSE 'running' END FROM claims, unnest(ids) AS id
    WHERE claim_id > '' AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = id)
  )`;

const and = (all: readonly Condition[]): Condition => sql`(${sql.join(all, sql` AND `)})`;

/** The conditions on everything but the status. */
function conditions(from: 'invocation_states' | 'i', tenant: string, filter: InvocationFilter): Condition[] {
  const column = (name: string) => sql.ref(`${from}.${name}`);
  const all: Condition[] = [sql`${column('tenant')} = ${tenant}`];
  if (filter.tool_id) all.push(sql`${column('tool_id')} = ${filter.tool_id}`);
  if (filter.runner) all.push(sql`${column('runner')} = ${filter.runner}`);
  if (filter.run_id) {
    // A single invocation is its own run: the run id contains the invocation id.
    all.push(sql`${column('invocation_id')} IN (
      SELECT invocation_id FROM invocations WHERE run_id = ${filter.run_id} UNION ALL
      SELECT invocation_id FROM invocations WHERE invocation_id = ${loneInvocationId(filter.run_id)} AND run_id IS NULL)`);
  }
  if (filter.session_id) all.push(sql`${column('session_id')} = ${filter.session_id}`);
  if (filter.actor) all.push(sql`${column('actor')} = ${filter.actor}`);
  if (filter.since) all.push(sql`${column('created_at')} >= ${filter.since}::timestamptz`);
  if (filter.until) all.push(sql`${column('created_at')} < ${filter.until}::timestamptz`);
  for (const label of filter.label ?? []) all.push(hasLabel(column('labels'), label));
  if (filter.q) all.push(mentions(column, filter.q));
  return all;
}

const anywhere = (text: string) => `%${asLiteral(text)}%`;
const asLiteral = (text: string) => text.replace(/[\\%_]/g, '\\$&');

type Column = (name: string) => RawBuilder<unknown>;

/**
 * Text that looks like an id is matched as one; other text matches anywhere in tool, actor, label or error. Errors are searched once,
 * in the index of the results that have one: looking up the result of each call took 23 s of 1,500,000, this takes 2.
 */
function mentions(column: Column, q: string): Condition {
  const id = column('invocation_id');
  if (/^(inv|run|hld)_[\w-]+$/.test(q)) {
    const rest = asLiteral(q.slice(4));
    return sql`(${id} LIKE ${`inv\\_${rest}%`} OR coalesce(${column('run_id')} LIKE ${`run\\_${rest}%`}, false))`;
  }
  const part = anywhere(q);
  const labels = column('labels');
  return sql`(${column('tool_id')} ILIKE ${part} OR ${column('actor')} ILIKE ${part}
    OR (${labels}::text <> '{}' AND EXISTS (SELECT FROM jsonb_each_text(${labels}::jsonb) AS l WHERE l.value ILIKE ${part}))
    OR ${id} IN (SELECT invocation_id FROM results WHERE error ILIKE ${part}))`;
}

function hasLabel(labels: RawBuilder<unknown>, label: string): Condition {
  const between = label.search(/[:=]/);
  return between < 0
    ? sql`${labels} ? ${label}`
    : sql`${labels} @> ${JSON.stringify({ [label.slice(0, between)]: label.slice(between + 1) })}::jsonb`;
}
