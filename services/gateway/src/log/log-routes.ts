import { ConsistencyProof, Failure, LogProof } from '@capstan/contracts';
import { HASH_BYTES, parseTilePath, TILE_WIDTH, type TileName } from '@capstan/integrity';
import { cutTile, openTree, readCheckpoint, readEntries, readTile, type Store } from '@capstan/store';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { proveEntry } from './prove-entry.js';

const READERS: Route['roles'] = ['submit', 'operate', 'audit'];
const Size = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
/** A full tile never changes. */
const FOR_EVER = 'private, max-age=31536000, immutable';

export const logRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/log/checkpoint',
    summary: "The newest checkpoint of the tenant's log (C2SP tlog-checkpoint)",
    roles: READERS,
    answers: { 200: { description: 'A signed note', media_type: 'text/plain' } },
    handle: async ({ store }, { principal, reply }) => {
      const checkpoint = await readCheckpoint(store.db, principal.tenant);
      if (!checkpoint) throw emptyLog(principal.tenant);
      const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' };
      return reply.headers(headers).send(checkpoint.note);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/log/tile/*',
    summary: 'A tile of the log, or the entries under one (C2SP tlog-tiles): 0/x001/067, 0/000.p/8, entries/000',
    roles: READERS,
    answers: { 200: { description: 'Hashes, or entries', media_type: 'application/octet-stream' } },
    handle: async ({ store }, { principal, params, reply }) => {
      const path = `tile/${params['*'] ?? ''}`;
      const name = parseTilePath(path);
      const bytes = name && (await readNamed(store, principal.tenant, name));
      if (!bytes) throw notFound(path);
      return reply.headers({ 'content-type': 'application/octet-stream', 'cache-control': FOR_EVER }).send(bytes);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/log/proofs/{id}',
    summary: 'That a call or a run that has ended is in the log: its place, and the path to the root',
    roles: READERS,
    answers: { 200: { description: 'The proof', schema: LogProof } },
    handle: (gateway, { principal, params }) => proveEntry(gateway, principal, params.id ?? ''),
  }),
  route({
    method: 'GET',
    path: '/v1/log/consistency',
    summary: 'That the log of `to` entries begins with the log of `from` entries',
    roles: READERS,
    query: z.strictObject({ from: Size, to: Size.optional().describe('The newest checkpoint by default') }),
    answers: { 200: { description: 'The proof', schema: ConsistencyProof } },
    handle: async ({ store }, { principal: { tenant }, query: { from, to: wanted } }) => {
      const checkpoint = await readCheckpoint(store.db, tenant);
      if (!checkpoint) throw emptyLog(tenant);
      const to = wanted ?? checkpoint.size;
      if (from > to || to > checkpoint.size)
        throw new Failure('INVALID_REQUEST', {
          detail: `The log has ${checkpoint.size} entries; from is to be at most to, and to at most that.`,
        });
      const proof = await openTree(store.db, tenant).consistencyProof(from, to);
      return { from, to, proof: proof.map((hash) => hash.toString('base64')) };
    },
  }),
];

/** Undefined while there is less of it than was asked for. */
async function readNamed(
  { db }: Store,
  tenant: string,
  { level, index, width }: TileName,
): Promise<Buffer | undefined> {
  if (level !== 'entries') return cutTile(await readTile(db, tenant, level, index), width);
  const entries = await readEntries(db, tenant, index * TILE_WIDTH, width);
  if (entries.length < width) return undefined;
  const length = Buffer.from([0, HASH_BYTES]);
  return Buffer.concat(entries.flatMap((entry) => [length, entry]));
}

const emptyLog = (tenant: string): Failure =>
  new Failure('NOT_FOUND', {
    detail: `The log of ${tenant} has no entries yet.`,
    suggestion: 'It gets one a moment after the first call has ended.',
  });
