import { type InvocationFilter, loneInvocationId } from '@capstan/contracts';
import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import type { Tables } from '../tables.js';

type Builder = ExpressionBuilder<Tables, 'invocations'>;

/** One WHERE clause for lists and for what acts on many. The tenant is always part of it. */
export const matching =
  (tenant: string, filter: InvocationFilter) =>
  (eb: Builder): ExpressionWrapper<Tables, 'invocations', SqlBool> => {
    const all = [eb('invocations.tenant', '=', tenant)];
    if (filter.status) all.push(eb('invocations.status', 'in', filter.status));
    if (filter.tool_id) all.push(eb('invocations.tool_id', '=', filter.tool_id));
    if (filter.runner) all.push(eb('invocations.runner', '=', filter.runner));
    if (filter.run_id) all.push(ofRun(eb, filter.run_id));
    if (filter.session_id) all.push(eb('invocations.session_id', '=', filter.session_id));
    if (filter.actor) all.push(eb('invocations.actor', '=', filter.actor));
    if (filter.since) all.push(eb('invocations.created_at', '>=', filter.since));
    if (filter.until) all.push(eb('invocations.created_at', '<', filter.until));
    for (const label of filter.label ?? []) all.push(eb(hasLabel(label), '=', sql.lit(true)));
    return eb.and(all);
  };

/** A lone invocation is its own run: the run's id tells the invocation's. */
const ofRun = (eb: Builder, run_id: string) =>
  eb.or([
    eb('invocations.run_id', '=', run_id),
    eb.and([eb('invocations.invocation_id', '=', loneInvocationId(run_id)), eb('invocations.run_id', 'is', null)]),
  ]);

const hasLabel = (label: string) => {
  const between = label.search(/[:=]/);
  return between < 0
    ? sql<boolean>`invocations.labels ? ${label}`
    : sql<boolean>`invocations.labels @> ${JSON.stringify({ [label.slice(0, between)]: label.slice(between + 1) })}::jsonb`;
};
