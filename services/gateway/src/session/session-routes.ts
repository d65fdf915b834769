import {
  Failure,
  LastResponse,
  PageQuery,
  type Principal,
  pageOf,
  Session,
  SessionFile,
  SessionFileContent,
  SessionNote,
  toSessionPath,
} from '@capstan/contracts';
import {
  clearLastResponse,
  getSession,
  lastResponse,
  listSessionFiles,
  readNotes,
  readSessionFile,
  removeSessionFile,
  type SessionFileRemoved,
  type SessionScope,
  type StoredSessionFile,
} from '@capstan/store/session';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { READERS, type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { putFile } from './put-file.js';

const FilePage = pageOf(SessionFile);
const FILE = '/v1/sessions/{id}/files/*';

async function listFolder({ store }: GatewayContext, scope: SessionScope, path: string, page: PageQuery) {
  const after = page.cursor === undefined ? '' : pathOf(page.cursor);
  const files = await listSessionFiles(store.db, scope, path, { limit: page.limit + 1, after });
  if (!files) throw notFound(`folder ${path}`);
  const items = files.slice(0, page.limit);
  return { items, next_cursor: files.length > items.length ? (items.at(-1)?.path ?? null) : null };
}

export const sessionRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/sessions/{id}',
    summary: 'Get a session: its usage and contents. Sessions are created on first use',
    roles: READERS,
    answers: { 200: { description: 'The session', schema: Session } },
    handle: async ({ store }, { principal, params }) => {
      const session = await getSession(store.db, scopeOf(principal, params.id));
      if (!session) throw notFound(`session ${params.id}`);
      return session;
    },
  }),
  route({
    method: 'GET',
    path: '/v1/sessions/{id}/last-response',
    summary: 'Get the result of the latest call in a session',
    roles: READERS,
    answers: { 200: { description: 'The response', schema: LastResponse } },
    handle: async ({ store }, { principal, params }) => {
      const { tenant, session_id } = scopeOf(principal, params.id);
      const last = await lastResponse(store, tenant, session_id);
      if (!last) throw notFound(`response in session ${session_id}`);
      return last;
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/sessions/{id}/last-response',
    summary: 'Clear the last response of a session; the record keeps it',
    roles: ['submit'],
    answers: { 204: { description: 'Cleared' } },
    handle: async ({ store }, { principal, params, reply }) => {
      await clearLastResponse(store, scopeOf(principal, params.id));
      return reply.code(204).send();
    },
  }),
  route({
    method: 'GET',
    path: '/v1/sessions/{id}/notes',
    summary: 'List the notes of a session',
    roles: READERS,
    query: AllQuery,
    answers: { 200: { description: 'All sections', schema: pageOf(SessionNote) } },
    handle: async ({ store }, { principal, params, query }) =>
      pageOfAll(await readNotes(store.db, scopeOf(principal, params.id), null), query),
  }),
  route({
    method: 'GET',
    path: '/v1/sessions/{id}/files',
    summary: 'List the files in a folder of a session',
    roles: READERS,
    query: PageQuery.extend({ path: z.string().default('/') }).strict(),
    answers: { 200: { description: 'A page, by name', schema: FilePage } },
    handle: (gateway, { principal, params, query: { path, ...page } }) =>
      listFolder(gateway, scopeOf(principal, params.id), pathOf(path), page),
  }),
  route({
    method: 'GET',
    path: FILE,
    summary: 'Download a file; with Accept: application/json, as JSON; for a folder, list its contents',
    roles: READERS,
    query: PageQuery.strict(),
    answers: { 200: { description: 'The content', schema: SessionFileContent } },
    handle: async (gateway, { principal, params, query, request, reply }) => {
      const [scope, path] = [scopeOf(principal, params.id), pathOf(params['*'])];
      const file = await readSessionFile(gateway.store.db, scope, path);
      if (!file) throw notFound(`file ${path}`);
      return file.is_directory ? listFolder(gateway, scope, path, query) : sendFile(file, request, reply);
    },
  }),
  route({
    method: 'PUT',
    path: FILE,
    summary: 'Write a file: JSON {content, encoding?, is_readonly?}, or with any other Content-Type its bytes',
    roles: ['submit'],
    raw_body: true,
    body_limit: 'bulk',
    answers: {
      200: { description: 'Replaced', schema: SessionFile },
      201: { description: 'Created', schema: SessionFile },
    },
    handle: async (gateway, { principal, params, request, reply }) => {
      const { created, file } = await putFile(
        gateway,
        scopeOf(principal, params.id),
        pathOf(params['*']),
        request.body ?? '',
      );
      return reply.code(created ? 201 : 200).send(file);
    },
  }),
  route({
    method: 'DELETE',
    path: FILE,
    summary: 'Delete a file; with recursive=true, a folder and its contents',
    roles: ['submit'],
    query: z.strictObject({ recursive: z.enum(['true', 'false']).default('false') }),
    answers: { 204: { description: 'Gone' } },
    handle: async ({ store }, { principal, params, query, reply }) => {
      const [scope, path] = [scopeOf(principal, params.id), pathOf(params['*'])];
      const recursive = query.recursive === 'true';
      const removed = await removeSessionFile(store, scope, path, { recursive, over_readonly: true });
      if (removed.kind === 'refused') throw refuseRemoval(path, removed.why);
      return reply.code(204).send();
    },
  }),
];

function sendFile({ content, encoding, ...file }: StoredSessionFile, request: FastifyRequest, reply: FastifyReply) {
  const bytes = Buffer.from(content);
  if (/\bapplication\/json\b/.test(request.headers.accept ?? ''))
    return { ...file, content: bytes.toString(encoding === 'text' ? 'utf8' : 'base64'), encoding };
  return reply
    .headers({
      'content-type': encoding === 'text' ? 'text/plain; charset=utf-8' : 'application/octet-stream',
      // Written by tools and models: it must not run in a browser that is logged in here.
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    })
    .send(bytes);
}

const refuseRemoval = (path: string, why: Extract<SessionFileRemoved, { kind: 'refused' }>['why']): Failure =>
  why === 'absent'
    ? notFound(`file ${path}`)
    : new Failure('ILLEGAL_STATE', {
        detail: why === 'not_empty' ? `${path} is not empty.` : `${path} may only be read.`,
        suggestion: 'Delete a folder with recursive=true.',
      });

/** Validated here, because an id in a URL can be anything. */
function scopeOf({ tenant }: Principal, session_id: string | undefined): SessionScope {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (!session_id || session_id.length > 255 || /[\u0000-\u001f\u007f]/.test(session_id) || !session_id.isWellFormed())
    throw new Failure('INVALID_REQUEST', {
      detail: 'session_id: 1 to 255 characters, none of them a control character.',
    });
  return { tenant, session_id };
}

function pathOf(given: string | undefined): string {
  const normal = toSessionPath(`/${given ?? ''}`);
  if ('problem' in normal) throw new Failure('INVALID_REQUEST', { detail: `${normal.problem}.` });
  return normal.path;
}
