import {
  Decide,
  DecideAnswer,
  Hold,
  HoldFilter,
  HoldItem,
  HoldSort,
  pageOf,
  Rejection,
  Release,
  SequenceQuery,
  SimilarHolds,
  Withdrawal,
} from '@capstan/contracts';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { comment, reject, release, withdraw } from './decide-hold.js';
import { decideMany } from './decide-many.js';
import { grantRoutes } from './grant-routes.js';
import { holdsMatching } from './list-holds.js';
import { readHold, readSimilar } from './show-hold.js';

/** Policy may name anybody as approver, so the right to decide is checked with the hold itself. */
const ANYBODY: Route['roles'] = ['submit', 'operate', 'audit'];
const ListQuery = z.strictObject({
  ...SequenceQuery.shape,
  ...HoldFilter.shape,
  status: HoldFilter.shape.status.default('pending'),
  sort: HoldSort.default('created_at').describe(
    'created_at: newest first; expires_at: those that expire soonest first',
  ),
});
const answers = {
  200: { description: 'The hold', schema: Hold },
  403: { description: 'The caller may not decide on it, or the policy now in force denies the call' },
  409: { description: 'It was decided already; the problem contains the hold' },
};

export const holdRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/holds',
    summary: 'List holds, each with whether the caller may decide on it',
    roles: ANYBODY,
    query: ListQuery,
    answers: {
      200: {
        description: 'A page',
        schema: pageOf(HoldItem),
      },
    },
    handle: (gateway, { principal, query: { limit, cursor, sort, ...filter } }) =>
      holdsMatching(gateway, principal, filter, { limit, cursor, sort }),
  }),
  route({
    method: 'POST',
    path: '/v1/holds/decide',
    summary: 'Release or reject many holds, by id or by filter',
    roles: ANYBODY,
    body: Decide,
    answers: { 200: { description: 'The outcome of each hold', schema: DecideAnswer } },
    handle: (gateway, { principal, body }) => decideMany(gateway, principal, body),
  }),
  route({
    method: 'GET',
    path: '/v1/holds/{id}/similar',
    summary: 'List earlier decisions about the same tool, and how those calls ended',
    roles: ANYBODY,
    answers: { 200: { description: 'The latest, and the counts', schema: SimilarHolds } },
    handle: (gateway, { principal, params }) => readSimilar(gateway, principal, params.id ?? ''),
  }),
  route({
    method: 'GET',
    path: '/v1/holds/{id}',
    summary: 'Get a hold with everything needed to decide on it',
    roles: ANYBODY,
    answers: { 200: answers[200] },
    handle: (gateway, { principal, params }) => readHold(gateway, principal, params.id ?? ''),
  }),
  route({
    method: 'POST',
    path: '/v1/holds/{id}/release',
    summary: 'Vote to release a held call, optionally with edited inputs',
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
    summary: 'Comment on a held call',
    roles: ['submit', 'operate'],
    body: Rejection,
    answers: { 200: answers[200] },
    handle: (gateway, { principal, params, body }) => comment(gateway, principal, params.id ?? '', body.comment),
  }),
  route({
    method: 'POST',
    path: '/v1/holds/{id}/withdraw',
    summary: 'Withdraw a held call of your own',
    roles: ANYBODY,
    body: Withdrawal.default({}),
    answers,
    handle: (gateway, { principal, params, body }) =>
      withdraw(gateway, principal, params.id ?? '', body.comment ?? null),
  }),
  ...grantRoutes,
];
