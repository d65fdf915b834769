import { InstalledExtension, NewExtension, pageOf, ToolChanges } from '@capstan/contracts';
import {
  type ExtensionRow,
  enableExtension,
  readExtension,
  readExtensions,
  removeExtension,
} from '@capstan/store/extension';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { READERS, type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { announceTools, requireInstallationAdmin } from '../tool/installation-admin.js';
import { toAnswer } from './extension-answer.js';
import { install } from './install.js';

const answer = ({ catalog }: GatewayContext, row: ExtensionRow): InstalledExtension =>
  toAnswer(
    row,
    catalog
      .list()
      .filter(({ descriptor }) => descriptor.source === 'extension' && descriptor.origin === row.extension_id)
      .map(({ descriptor }) => descriptor.tool_id),
  );

export const extensionRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/extensions',
    summary: 'Install an extension, or another version of one',
    roles: ['admin'],
    body: NewExtension,
    body_limit: 'bulk',
    answers: {
      201: {
        description: 'It is installed and its tools can be called',
        schema: InstalledExtension.extend({ changes: ToolChanges }),
      },
    },
    handle: async (gateway, { principal, body, reply }) => {
      requireInstallationAdmin(principal);
      return reply.code(201).send(await install(gateway, principal, body));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/extensions',
    summary: 'List installed extensions',
    roles: READERS,
    query: AllQuery,
    answers: { 200: { description: 'All', schema: pageOf(InstalledExtension) } },
    handle: async (gateway, { query }) => {
      const rows = await readExtensions(gateway.store.db);
      return pageOfAll(
        rows.map((row) => answer(gateway, row)),
        query,
      );
    },
  }),
  route({
    method: 'GET',
    path: '/v1/extensions/{id}',
    summary: 'Get an extension with its usage document',
    roles: READERS,
    answers: {
      200: { description: 'The extension', schema: InstalledExtension.extend({ usage: z.string().nullable() }) },
    },
    handle: async (gateway, { params }) => {
      const row = await readExtension(gateway.store.db, params.id ?? '');
      if (!row) throw notFound(`extension ${params.id}`);
      return { ...answer(gateway, row), usage: row.usage };
    },
  }),
  route({
    method: 'PATCH',
    path: '/v1/extensions/{id}',
    summary: 'Enable or disable an extension and its tools',
    roles: ['admin'],
    body: z.strictObject({ enabled: z.boolean() }),
    answers: { 200: { description: 'The extension', schema: InstalledExtension } },
    handle: async (gateway, { principal, params, body }) => {
      requireInstallationAdmin(principal);
      const row = await enableExtension(gateway.store, principal, params.id ?? '', body.enabled);
      if (!row) throw notFound(`extension ${params.id}`);
      await announceTools(gateway);
      return answer(gateway, row);
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/extensions/{id}',
    summary: 'Remove an extension with its tools',
    roles: ['admin'],
    answers: { 204: { description: 'Gone' } },
    handle: async (gateway, { principal, params, reply }) => {
      requireInstallationAdmin(principal);
      if (!(await removeExtension(gateway.store, principal, params.id ?? ''))) throw notFound(`extension ${params.id}`);
      await announceTools(gateway);
      return reply.code(204).send();
    },
  }),
];
