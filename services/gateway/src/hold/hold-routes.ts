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

/** Policy may name anybody, so that who may decide is looked at with the hold itself. */
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
  403: { description: 'Not this key, or the rules of now deny it' },
  409: { description: 'It is decided already; the problem has the hold' },
};

export const holdRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/holds',
    summary: 'List what waits for a person (or was decided), each with whether you may decide on it',
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
    summary: 'Release or reject many holds: those named, or the pending ones that a filter picks',
    roles: ANYBODY,
    body: Decide,
    answers: { 200: { description: 'What became of each', schema: DecideAnswer } },
    handle: (gateway, { principal, body }) => decideMany(gateway, principal, body),
  }),
  route({
    method: 'GET',
    path: '/v1/holds/{id}/similar',
    summary: 'Earlier decisions on the same tool, and how those calls ended',
    roles: ANYBODY,
    answers: { 200: { description: 'The latest, and the counts', schema: SimilarHolds } },
    handle: (gateway, { principal, params }) => readSimilar(gateway, principal, params.id ?? ''),
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
