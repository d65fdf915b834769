import { type InvocationFilter, type InvocationStatus, isTerminal, loneInvocationId } from '@capstan/contracts';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

type Condition = RawBuilder<SqlBool>;

/** The WHERE clause of lists and bulk actions over `invocation_states`. It always includes the tenant. */
export function matching(tenant: string, filter: InvocationFilter): Condition {
  const all = conditions('invocation_states', tenant, filter);
  if (filter.status) {
    all.push(sql`invocation_states.status = ANY (${filter.status})`);
    if (!filter.status.some(isTerminal)) all.push(isLive(tenant));
  }
  return and(all);
}

/** The statuses of a filter that only matches ended calls; null for any other filter. */
export const onlyEnded = ({ status }: InvocationFilter): InvocationStatus[] | null =>
  status?.every(isTerminal) ? status : null;

/**
 * Ended calls in these statuses, as FROM and WHERE clauses over `invocations i` and `results e`. The view cannot be searched by an
 * index: with 1,500,000 calls, looking for an ambiguous one took 7 s. The statuses are written out, because the plans are
 * generic: only so Postgres knows that few calls have them, and may use the index of those that did not succeed.
 */
export function endedMatching(
  tenant: string,
  statuses: readonly InvocationStatus[],
  filter: InvocationFilter,
): RawBuilder<unknown> {
  const all = conditions('i', tenant, filter);
  const among = statuses.map((status) => sql.lit(status));
  all.push(among.length > 0 ? sql`e.status IN (${sql.join(among)})` : sql`false`);
  if (!statuses.includes('succeeded')) all.push(sql`e.status <> 'succeeded'`);
  return sql`FROM invocations i JOIN results e ON e.invocation_id = i.invocation_id WHERE ${and(all)}`;
}

const and = (all: readonly Condition[]): Condition => sql`(${sql.join(all, sql` AND `)})`;

/** The conditions on everything but the status. */
function conditions(from: 'invocation_states' | 'i', tenant: string, filter: InvocationFilter): Condition[] {
  const column = (name: string) => sql.ref(`${from}.${name}`);
  const all: Condition[] = [sql`${column('tenant')} = ${tenant}`];
  if (filter.tool_id) all.push(sql`${column('tool_id')} = ${filter.tool_id}`);
  if (filter.runner) all.push(sql`${column('runner')} = ${filter.runner}`);
  if (filter.run_id) {
    // A single invocation is its own run: the run id contains the invocation id.
    const lone = sql`${column('invocation_id')} = ${loneInvocationId(filter.run_id)} AND ${column('run_id')} IS NULL`;
    all.push(sql`(${column('run_id')} = ${filter.run_id} OR (${lone}))`);
  }
  if (filter.session_id) all.push(sql`${column('session_id')} = ${filter.session_id}`);
  if (filter.actor) all.push(sql`${column('actor')} = ${filter.actor}`);
  if (filter.since) all.push(sql`${column('created_at')} >= ${filter.since}::timestamptz`);
  if (filter.until) all.push(sql`${column('created_at')} < ${filter.until}::timestamptz`);
  for (const label of filter.label ?? []) all.push(hasLabel(column('labels'), label));
  if (filter.q) all.push(mentions(column, filter.q));
  return all;
}

/**
 * Finds calls that have not ended through `work` and `claims`, which are small. The view alone would scan every call of the
 * tenant.
 */
const isLive = (tenant: string): Condition => sql`invocation_states.invocation_id = ANY (ARRAY (
  SELECT invocation_id FROM work WHERE tenant = ${tenant} UNION ALL SELECT unnest(ids) FROM claims))`;

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
