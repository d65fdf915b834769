import { ConsistencyProof, Failure, LogProof } from '@capstan/contracts';
import { HASH_BYTES, parseTilePath, TILE_WIDTH, type TileName } from '@capstan/integrity';
import type { Store } from '@capstan/store';
import { cutTile, openTree, readCheckpoint, readEntries, readTile } from '@capstan/store/merkle';
import { z } from 'zod';
import { READERS, type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { proveEntry } from './prove-entry.js';

const Size = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
/** A full tile never changes. */
const FOR_EVER = 'private, max-age=31536000, immutable';

export const logRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/log/checkpoint',
    summary: "Get the newest checkpoint of the tenant's log (C2SP tlog-checkpoint)",
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
    summary: 'Get a tile of the log, or the entries under one (C2SP tlog-tiles): 0/x001/067, 0/000.p/8, entries/000',
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
    summary: 'Get the inclusion proof of an ended call or run',
    roles: READERS,
    answers: { 200: { description: 'The proof', schema: LogProof } },
    handle: (gateway, { principal, params }) => proveEntry(gateway, principal, params.id ?? ''),
  }),
  route({
    method: 'GET',
    path: '/v1/log/consistency',
    summary: 'Get the consistency proof between the logs of `from` and `to` entries',
    roles: READERS,
    query: z.strictObject({ from: Size, to: Size.optional().describe('The newest checkpoint by default') }),
    answers: { 200: { description: 'The proof', schema: ConsistencyProof } },
    handle: async ({ store }, { principal: { tenant }, query: { from, to: wanted } }) => {
      const checkpoint = await readCheckpoint(store.db, tenant);
      if (!checkpoint) throw emptyLog(tenant);
      const to = wanted ?? checkpoint.size;
      if (from > to || to > checkpoint.size)
        throw new Failure('INVALID_REQUEST', {
          detail: `The log has ${checkpoint.size} entries; from must not exceed to, and to must not exceed the size.`,
        });
      const proof = await openTree(store.db, tenant).consistencyProof(from, to);
      return { from, to, proof: proof.map((hash) => hash.toString('base64')) };
    },
  }),
];

/** Undefined if the log does not have that many entries yet. */
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
    suggestion: 'It gets its first entry shortly after a call ends.',
  });
