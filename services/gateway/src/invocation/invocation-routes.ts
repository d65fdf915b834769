import {
  BulkAnswer,
  BulkSubmission,
  Invocation,
  InvocationCounts,
  InvocationDetail,
  InvocationFilter,
  pageOf,
  Resolution,
  SequenceQuery,
  Submission,
  Validation,
} from '@capstan/contracts';
import { countInvocations, listInvocations } from '@capstan/store/invocation';
import { z } from 'zod';
import { streamEvents } from '../event/stream-events.js';
import { READERS, type Route, route } from '../http/route.js';
import { rateLimitHeaders } from '../quota/rate-limit.js';
import { cancel, cancelOne, readDetail, redrive, redriveOne, resolve } from './act-on.js';
import { waitAsked } from './preference.js';
import { submit } from './submit.js';
import { submitBulk } from './submit-bulk.js';
import { validate } from './validate.js';

const SubmitQuery = z.strictObject({
  wait: z
    .string()
    .optional()
    .describe('Seconds to wait for the end of the call, at most 120; the header Prefer: wait=20 does the same'),
  validate: z.enum(['true', 'false']).optional().describe('Only check and decide; nothing runs or is recorded'),
});
const Count = z.object({ count: z.int() });
/** In a query, several values are written with commas or by repeating the parameter. */
const many = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (typeof value === 'string' ? value.split(',') : value), schema);
const ListQuery = z.strictObject({
  ...SequenceQuery.shape,
  ...InvocationFilter.shape,
  status: many(InvocationFilter.shape.status),
});
const CountQuery = ListQuery.omit({ limit: true, cursor: true });
/** Acting on everything by leaving out a field is refused. */
const ActFilter = InvocationFilter.refine((filter) => Object.values(filter).some((value) => value !== undefined), {
  message: 'at least one field must be given',
});

export const invocationRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/invocations',
    summary: 'Submit an invocation; with Prefer: wait=N, wait for its end; with validate=true, only check it',
    roles: ['submit'],
    brings_work: true,
    query: SubmitQuery,
    // Parsed by admission, which bulk submissions share.
    body: z.unknown().meta({ override: Submission }),
    idempotency_header: true,
    answers: {
      200: {
        description: 'It has ended; or, with validate=true, the decision',
        schema: z.union([Invocation, Validation]),
      },
      202: { description: 'It is committed', schema: Invocation },
      403: { description: 'Denied by policy; the denial is on record' },
      429: { description: 'Denied by a quota; Retry-After says when to come back' },
      503: { description: 'Overloaded, or Postgres is away; Retry-After says when to come back' },
    },
    handle: async (gateway, { principal, body, query, request, reply }) => {
      if (query.validate === 'true') return validate(gateway, principal, body);
      const wait_ms = waitAsked(request, query.wait);
      const { status, invocation, room } = await submit(gateway, principal, body, wait_ms);
      reply.code(status);
      if (room) reply.headers(rateLimitHeaders(room));
      if (status === 202) reply.header('location', `/v1/invocations/${invocation.invocation_id}`);
      return invocation;
    },
  }),
  route({
    method: 'POST',
    path: '/v1/invocations/bulk',
    summary: 'Submit up to 10,000 invocations as one run',
    roles: ['submit'],
    brings_work: true,
    body: BulkSubmission,
    body_limit: 'bulk',
    answers: {
      202: {
        description: 'Valid submissions are committed; invalid ones are listed with the reason',
        schema: BulkAnswer,
      },
    },
    handle: async (gateway, { principal, body, reply }) => {
      const answer = await submitBulk(gateway, principal, body.invocations);
      return reply.code(202).send(answer);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/invocations',
    summary: 'List invocations, newest first',
    roles: READERS,
    query: ListQuery,
    answers: {
      200: {
        description: 'A page',
        schema: pageOf(Invocation),
      },
    },
    handle: ({ store }, { principal, query: { limit, cursor, ...filter } }) => {
      return listInvocations(store.db, principal.tenant, filter, { limit, cursor });
    },
  }),
  route({
    method: 'GET',
    path: '/v1/invocations/counts',
    summary: 'Count matching invocations by status, runner type, tool and actor',
    roles: READERS,
    query: CountQuery,
    answers: { 200: { description: 'The counts', schema: InvocationCounts } },
    handle: ({ store }, { principal, query }) => countInvocations(store.db, principal.tenant, query),
  }),
  route({
    method: 'GET',
    path: '/v1/invocations/{id}',
    summary: 'Get an invocation with its attempts and result',
    roles: READERS,
    answers: { 200: { description: 'The invocation', schema: InvocationDetail } },
    handle: (gateway, { principal, params }) => readDetail(gateway, principal, params.id ?? ''),
  }),
  route({
    method: 'GET',
    path: '/v1/invocations/{id}/events',
    summary: 'Follow an invocation as server-sent events; Last-Event-ID resumes',
    roles: READERS,
    answers: { 200: { description: 'Events: status, log and result', media_type: 'text/event-stream' } },
    handle: streamEvents,
  }),
  route({
    method: 'POST',
    path: '/v1/invocations/{id}/cancel',
    summary: 'Cancel an invocation, even while it runs',
    roles: ['submit', 'operate'],
    answers: { 200: { description: 'The invocation', schema: InvocationDetail } },
    handle: (gateway, { principal, params }) => cancelOne(gateway, principal, params.id ?? ''),
  }),
  route({
    method: 'POST',
    path: '/v1/invocations/{id}/redrive',
    summary: 'Run a failed, timed out or ambiguous invocation again',
    roles: ['operate'],
    answers: { 202: { description: 'It is queued again', schema: InvocationDetail } },
    handle: async (gateway, { principal, params, reply }) =>
      reply.code(202).send(await redriveOne(gateway, principal, params.id ?? '')),
  }),
  route({
    method: 'POST',
    path: '/v1/invocations/{id}/resolve',
    summary: 'Resolve an ambiguous invocation as succeeded or failed',
    roles: ['operate'],
    body: Resolution,
    answers: { 200: { description: 'The invocation', schema: InvocationDetail } },
    handle: (gateway, { principal, params, body }) => resolve(gateway, principal, params.id ?? '', body),
  }),
  route({
    method: 'POST',
    path: '/v1/invocations/cancel',
    summary: 'Cancel all invocations that match a filter',
    roles: ['operate'],
    body: ActFilter,
    answers: { 200: { description: 'How many', schema: Count } },
    handle: async (gateway, { principal, body }) => ({ count: await cancel(gateway, principal, body) }),
  }),
  route({
    method: 'POST',
    path: '/v1/invocations/redrive',
    summary: 'Redrive all invocations that match a filter',
    roles: ['operate'],
    body: ActFilter,
    answers: { 200: { description: 'How many', schema: Count } },
    handle: async (gateway, { principal, body }) => ({ count: await redrive(gateway, principal, body) }),
  }),
];
