import { Verification } from '@capstan/contracts';
import { type Route, route } from '../http/route.js';
import { NDJSON, sendTexts, toLines } from '../http/send-lines.js';
import { readOver, recordedRun } from './recorded-run.js';
import { verified, verifyWhenRecorded } from './verify-record.js';

export const verifyRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/runs/{id}/verify',
    summary:
      'Recompute every hash of a run that has ended, and name what does not match; as application/x-ndjson with progress',
    roles: ['submit', 'operate', 'audit'],
    answers: { 200: { description: 'The verdict', schema: Verification } },
    handle: async (gateway, { principal, params, request, reply }) => {
      const run = await readOver(gateway, principal, params.id ?? '');
      const record = () => recordedRun(gateway, principal, run.run_id);
      if (!request.headers.accept?.includes('application/x-ndjson')) return verified(gateway, await record());
      return sendTexts(reply, NDJSON, toLines(verifyWhenRecorded(gateway, run, record)));
    },
  }),
];
