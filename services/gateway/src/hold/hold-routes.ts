import {
  Hold,
  HoldFilter,
  HoldSummary,
  pageOf,
  Rejection,
  Release,
  SequenceQuery,
  Withdrawal,
} from '@capstan/contracts';
import { listHolds } from '@capstan/store';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { type Route, route } from '../http/route.js';
import { comment, reject, release, withdraw } from './decide-hold.js';
import { grantRoutes } from './grant-routes.js';
import { readHold } from './show-hold.js';
import { summarize } from './summarize-hold.js';

/** Policy may name anybody, so that who may decide is looked at with the hold itself. */
const ANYBODY: Route['roles'] = ['submit', 'operate', 'audit'];
const ListQuery = z.strictObject({
  ...SequenceQuery.shape,
  ...HoldFilter.shape,
  status: HoldFilter.shape.status.default('pending'),
});
const answers = {
  200: { description: 'The hold', schema: Hold },
  403: { description: 'Not this key, or the rules of now deny it' },
  409: { description: 'It is decided already; the problem has the hold' },
};

export const holdRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/holds',
    summary: 'List what waits for a person (or was decided), newest first',
    roles: ANYBODY,
    query: ListQuery,
    answers: {
      200: {
        description: 'A page',
        schema: pageOf(HoldSummary),
      },
    },
    handle: async (gateway, { principal, query: { limit, cursor, status, actor, ...filter } }) => {
      const wanted = { status, actor, tool_ids: toolsOf(gateway, filter) };
      const page = await listHolds(gateway.store.db, principal.tenant, wanted, { limit, cursor });
      return { ...page, items: page.items.map((hold) => summarize(gateway, hold)) };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/holds/{id}',
    summary: 'One hold with all that is needed to decide on it',
    roles: ANYBODY,
    answers: { 200: answers[200] },
    handle: (gateway, { principal, params }) => readHold(gateway, principal, params.id ?? ''),
  }),
  route({
    method: 'POST',
    path: '/v1/holds/{id}/release',
    summary: 'Vote for a held call to run, with changed inputs if given',
    roles: ANYBODY,
    body: Release.default({}),
    answers,
    handle: (gateway, { principal, params, body }) => release(gateway, principal, params.id ?? '', body),
  }),
  route({
    method: 'POST',
    path: '/v1/holds/{id}/reject',
    summary: 'Reject a held call',
    roles: ANYBODY,
    body: Rejection,
    answers,
    handle: (gateway, { principal, params, body }) => reject(gateway, principal, params.id ?? '', body.comment),
  }),
  route({
    method: 'POST',
    path: '/v1/holds/{id}/comments',
    summary: 'Say something about a held call',
    roles: ['submit', 'operate'],
    body: Rejection,
    answers: { 200: answers[200] },
    handle: (gateway, { principal, params, body }) => comment(gateway, principal, params.id ?? '', body.comment),
  }),
  route({
    method: 'POST',
    path: '/v1/holds/{id}/withdraw',
    summary: 'Take back a held call of your own',
    roles: ANYBODY,
    body: Withdrawal.default({}),
    answers,
    handle: (gateway, { principal, params, body }) =>
      withdraw(gateway, principal, params.id ?? '', body.comment ?? null),
  }),
  ...grantRoutes,
];

type ToolFilter = { tool_id?: string | undefined; risk?: string | undefined };

/** A risk is one of tools, and the catalog knows which have it. */
function toolsOf({ catalog }: GatewayContext, { tool_id, risk }: ToolFilter): string[] | undefined {
  if (risk === undefined) return tool_id === undefined ? undefined : [tool_id];
  const risky = catalog.list().filter(({ descriptor }) => descriptor.risk === risk);
  const ids = risky.map(({ descriptor }) => descriptor.tool_id);
  return tool_id === undefined ? ids : ids.filter((id) => id === tool_id);
}
