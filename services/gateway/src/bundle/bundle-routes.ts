import { Failure, ImportedBundle } from '@capstan/contracts';
import { bundleLoggedRun, bundleSealedRun, findBundle } from '@capstan/store/record';
import { type Route, route, READERS } from '../http/route.js';
import { NDJSON, sendTexts } from '../http/send-lines.js';
import { notFound } from '../invocation/act-on.js';
import { recordedRun } from '../verify/recorded-run.js';
import { importBundle } from './import-bundle.js';


export const bundleRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/runs/{id}/bundle',
    summary: 'Download a run as a bundle: one file that can be verified and replayed',
    roles: READERS,
    answers: {
      200: {
        description: 'JSON Lines: a header, a checkpoint of the log, documents, records with their proofs',
        media_type: 'application/x-ndjson',
      },
    },
    handle: async (gateway, { principal, params, reply }) => {
      const { run, tenant, seal, checkpoint } = await recordedRun(gateway, principal, params.id ?? '');
      reply.header('content-disposition', `attachment; filename="${run.run_id}.capstan.jsonl"`);
      if (seal) return sendTexts(reply, NDJSON, bundleSealedRun(gateway.store, seal, run.kind));
      if (!checkpoint) throw new Failure('RECORD_BROKEN', { detail: `The log has nothing of ${run.run_id}.` });
      return sendTexts(reply, NDJSON, bundleLoggedRun(gateway.store, tenant, run, checkpoint));
    },
  }),
  route({
    method: 'POST',
    path: '/v1/bundles',
    summary: 'Import a bundle (application/x-ndjson); it must verify',
    roles: ['operate', 'admin'],
    raw_body: 'stream',
    answers: { 201: { description: 'The imported bundle', schema: ImportedBundle } },
    handle: async (gateway, { principal, request, reply }) => {
      const kept = await importBundle(gateway, principal, request.body);
      return reply.code(201).header('location', `/v1/bundles/${kept.bundle_id}`).send(kept);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/bundles/{id}',
    summary: 'Get an imported bundle',
    roles: READERS,
    answers: { 200: { description: 'The bundle', schema: ImportedBundle } },
    handle: async ({ store }, { principal, params }) => {
      const found = await findBundle(store.db, principal.tenant, params.id ?? '');
      if (!found) throw notFound(params.id ?? '');
      return found;
    },
  }),
];
