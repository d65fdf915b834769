import { type InvocationFilter, isTerminal, loneInvocationId } from '@capstan/contracts';
import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import type { Tables } from '../tables.js';

type Builder = ExpressionBuilder<Tables, 'invocation_states'>;

/** The WHERE clause of lists and bulk actions. It always includes the tenant. */
export const matching =
  (tenant: string, filter: InvocationFilter) =>
  (eb: Builder): ExpressionWrapper<Tables, 'invocation_states', SqlBool> => {
    const all = [eb('invocation_states.tenant', '=', tenant)];
    if (filter.status) {
      all.push(eb('invocation_states.status', 'in', filter.status));
      if (!filter.status.some(isTerminal)) all.push(eb(isLive(tenant), '=', sql.lit(true)));
    }
    if (filter.tool_id) all.push(eb('invocation_states.tool_id', '=', filter.tool_id));
    if (filter.runner) all.push(eb('invocation_states.runner', '=', filter.runner));
    if (filter.run_id) all.push(ofRun(eb, filter.run_id));
    if (filter.session_id) all.push(eb('invocation_states.session_id', '=', filter.session_id));
    if (filter.actor) all.push(eb('invocation_states.actor', '=', filter.actor));
    if (filter.since) all.push(eb('invocation_states.created_at', '>=', filter.since));
    if (filter.until) all.push(eb('invocation_states.created_at', '<', filter.until));
    for (const label of filter.label ?? []) all.push(eb(hasLabel(label), '=', sql.lit(true)));
    if (filter.q) all.push(eb(mentions(filter.q), '=', sql.lit(true)));
    return eb.and(all);
  };

/**
 * Finds calls that have not ended through `work` and `claims`, which are small. The view alone would scan every call of the
 * tenant.
 */
const isLive = (tenant: string) => sql<boolean>`invocation_states.invocation_id = ANY (ARRAY (
  SELECT invocation_id FROM work WHERE tenant = ${tenant} UNION ALL SELECT unnest(ids) FROM claims))`;

/** A single invocation is its own run: the run id contains the invocation id. */
const ofRun = (eb: Builder, run_id: string) =>
  eb.or([
    eb('invocation_states.run_id', '=', run_id),
    eb.and([
      eb('invocation_states.invocation_id', '=', loneInvocationId(run_id)),
      eb('invocation_states.run_id', 'is', null),
    ]),
  ]);

const anywhere = (text: string) => `%${asLiteral(text)}%`;
const asLiteral = (text: string) => text.replace(/[\\%_]/g, '\\$&');

/** Text that looks like an id is matched as one; other text matches anywhere in tool, actor, label or error. */
function mentions(q: string) {
  if (/^(inv|run|hld)_[\w-]+$/.test(q)) {
    const rest = asLiteral(q.slice(4));
    return sql<boolean>`(invocation_states.invocation_id LIKE ${`inv\\_${rest}%`}
      OR coalesce(invocation_states.run_id LIKE ${`run\\_${rest}%`}, false))`;
  }
  const part = anywhere(q);
  return sql<boolean>`(invocation_states.tool_id ILIKE ${part} OR invocation_states.actor ILIKE ${part}
    OR EXISTS (SELECT FROM jsonb_each_text(invocation_states.labels::jsonb) AS l WHERE l.value ILIKE ${part})
    OR EXISTS (SELECT FROM results e WHERE e.invocation_id = invocation_states.invocation_id AND e.error ILIKE ${part}))`;
}

const hasLabel = (label: string) => {
  const between = label.search(/[:=]/);
  return between < 0
    ? sql<boolean>`invocation_states.labels ? ${label}`
    : sql<boolean>`invocation_states.labels @> ${JSON.stringify({ [label.slice(0, between)]: label.slice(between + 1) })}::jsonb`;
};
