import { parseOpenApi } from '@capstan/catalog';
import { AddedOpenApi, InstalledOpenApi, NewOpenApi, OpenApiPreview, pageOf } from '@capstan/contracts';
import {
  type OpenApiRow,
  putOpenApiDocument,
  readOpenApiDocument,
  readOpenApiDocuments,
  removeOpenApiDocument,
} from '@capstan/store/openapi';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { READERS, type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { announceTools, requireInstallationAdmin } from '../tool/installation-admin.js';

const Info = z.object({ info: z.object({ title: z.string(), version: z.union([z.string(), z.number()]) }) });
const Options = z.object({ base_url: z.string() });

function answer({ catalog }: GatewayContext, row: OpenApiRow): InstalledOpenApi {
  const { name, document_hash, installed_by, created_at, updated_at } = row;
  const info = Info.safeParse(row.document).data?.info;
  return {
    name,
    title: info?.title ?? '',
    version: String(info?.version ?? ''),
    base_url: Options.safeParse(row.options).data?.base_url ?? '',
    tools: catalog
      .list()
      .filter(({ descriptor }) => descriptor.source === 'openapi' && descriptor.origin === name)
      .map(({ descriptor }) => descriptor.tool_id),
    document_hash,
    installed_by,
    created_at,
    updated_at,
  };
}

export const openApiRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/openapi',
    summary: 'Add the operations of an OpenAPI document as tools',
    roles: ['admin'],
    body: NewOpenApi,
    body_limit: 'bulk',
    answers: {
      200: { description: 'The tools that would be added, with dry_run', schema: OpenApiPreview },
      201: { description: 'The tools were added and can be called', schema: AddedOpenApi },
    },
    handle: async (gateway, { principal, body, reply }) => {
      requireInstallationAdmin(principal);
      const { name, base_url, descriptors, warnings } = await parseOpenApi(body);
      if (body.dry_run) return { name, base_url, tools: descriptors, warnings };
      const { document, dry_run: _, ...options } = body;
      const { row, changes } = await putOpenApiDocument(gateway.store, principal, {
        ...{ name, document, descriptors },
        options: { ...options, base_url },
      });
      await announceTools(gateway);
      return reply.code(201).send({ ...answer(gateway, row), changes, warnings });
    },
  }),
  route({
    method: 'GET',
    path: '/v1/openapi',
    summary: 'List OpenAPI documents',
    roles: READERS,
    query: AllQuery,
    answers: { 200: { description: 'All', schema: pageOf(InstalledOpenApi) } },
    handle: async (gateway, { query }) => {
      const rows = await readOpenApiDocuments(gateway.store.db);
      return pageOfAll(
        rows.map((row) => answer(gateway, row)),
        query,
      );
    },
  }),
  route({
    method: 'GET',
    path: '/v1/openapi/{name}',
    summary: 'Get an OpenAPI document as it was sent',
    roles: READERS,
    answers: {
      200: {
        description: 'The document',
        schema: InstalledOpenApi.extend({ document: z.unknown(), options: z.unknown() }),
      },
    },
    handle: async (gateway, { params }) => {
      const row = await readOpenApiDocument(gateway.store.db, params.name ?? '');
      if (!row) throw notFound(`OpenAPI document ${params.name}`);
      return { ...answer(gateway, row), document: row.document, options: row.options };
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/openapi/{name}',
    summary: 'Remove an OpenAPI document with its tools',
    roles: ['admin'],
    answers: { 204: { description: 'Gone' } },
    handle: async (gateway, { principal, params, reply }) => {
      requireInstallationAdmin(principal);
      const name = params.name ?? '';
      if (!(await removeOpenApiDocument(gateway.store, principal, name))) throw notFound(`OpenAPI document ${name}`);
      await announceTools(gateway);
      return reply.code(204).send();
    },
  }),
];
