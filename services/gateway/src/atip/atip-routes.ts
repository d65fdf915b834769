import { AtipDocument, parseAtip } from '@capstan/catalog';
import { Failure, InstalledAtipTool, JsonObject, pageOf, ToolChanges } from '@capstan/contracts';
import {
  type AtipRow,
  putAtipDocument,
  readAtipDocument,
  readAtipDocuments,
  removeAtipDocument,
} from '@capstan/store/atip';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { READERS, type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { announceTools, requireInstallationAdmin } from '../tool/installation-admin.js';

const SentDocument = z.object({ ...AtipDocument.shape, commands: z.record(z.string(), z.unknown()).optional() });

function answer({ catalog }: GatewayContext, row: AtipRow): InstalledAtipTool {
  const document = AtipDocument.safeParse(row.document).data;
  const { name, document_hash, installed_by, created_at, updated_at } = row;
  return {
    name,
    version: document?.version ?? '',
    description: document?.description ?? '',
    trust: document?.trust?.source ?? 'inferred',
    tools: catalog
      .list()
      .filter(({ descriptor }) => descriptor.source === 'atip' && descriptor.origin === name)
      .map(({ descriptor }) => descriptor.tool_id),
    document_hash,
    installed_by,
    created_at,
    updated_at,
  };
}

export const atipRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/atip-tools',
    summary: 'Add the commands of an ATIP document as tools',
    roles: ['admin'],
    // The catalog validates it against ATIP 0.6. Commands can be nested, which this schema does not describe.
    body: z.unknown().meta({ override: SentDocument }),
    answers: {
      201: {
        description: 'The tools were added and can be called',
        schema: InstalledAtipTool.extend({ changes: ToolChanges, warnings: z.array(z.string()) }),
      },
    },
    handle: async (gateway, { principal, body, reply }) => {
      requireInstallationAdmin(principal);
      const sent = JsonObject.safeParse(body);
      if (!sent.success) throw new Failure('INVALID_REQUEST', { detail: 'the body: expected an ATIP document' });
      const { document, descriptors, warnings } = parseAtip(sent.data);
      const { row, changes } = await putAtipDocument(gateway.store, principal, {
        name: document.name,
        document: sent.data,
        descriptors,
      });
      await announceTools(gateway);
      return reply.code(201).send({ ...answer(gateway, row), changes, warnings });
    },
  }),
  route({
    method: 'GET',
    path: '/v1/atip-tools',
    summary: 'List ATIP documents',
    roles: READERS,
    query: AllQuery,
    answers: { 200: { description: 'All', schema: pageOf(InstalledAtipTool) } },
    handle: async (gateway, { query }) => {
      const rows = await readAtipDocuments(gateway.store.db);
      return pageOfAll(
        rows.map((row) => answer(gateway, row)),
        query,
      );
    },
  }),
  route({
    method: 'GET',
    path: '/v1/atip-tools/{name}',
    summary: 'Get an ATIP document as it was sent',
    roles: READERS,
    answers: { 200: { description: 'The document', schema: InstalledAtipTool.extend({ document: z.unknown() }) } },
    handle: async (gateway, { params }) => {
      const row = await readAtipDocument(gateway.store.db, params.name ?? '');
      if (!row) throw notFound(`ATIP tool ${params.name}`);
      return { ...answer(gateway, row), document: row.document };
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/atip-tools/{name}',
    summary: 'Remove an ATIP document with its tools',
    roles: ['admin'],
    answers: { 204: { description: 'Gone' } },
    handle: async (gateway, { principal, params, reply }) => {
      requireInstallationAdmin(principal);
      const name = params.name ?? '';
      if (!(await removeAtipDocument(gateway.store, principal, name))) throw notFound(`ATIP tool ${name}`);
      await announceTools(gateway);
      return reply.code(204).send();
    },
  }),
];
