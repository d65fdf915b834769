import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settleClaims } from '../claim/settle-claims.js';
import type { Store } from '../open-store.js';
import { resultsWalk } from '../retention/remove-results.js';
import { retentionRules } from '../retention/retention-rule.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { startOne } from '../testing/run-one.js';
import { type ArtifactStorage, artifactStorage } from './artifact-place.js';
import { deleteUnusedArtifacts } from './delete-unused.js';
import { diskPlace } from './disk-place.js';
import { keepArtifact } from './keep-artifact.js';
import { findArtifact, readArtifact } from './read-artifact.js';
import { s3Place } from './s3-place.js';

const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

let store: Store;
let directory: string;
let bucket: Awaited<ReturnType<typeof startBucket>>;
beforeAll(async () => {
  store = await openTestStore();
  directory = await mkdtemp(join(tmpdir(), 'artifacts-'));
  bucket = await startBucket();
});
afterAll(async () => {
  bucket.server.close();
  await rm(directory, { recursive: true });
});

/** A minimal S3: objects by path, signed requests, verified hashes. */
const startBucket = async () => {
  const objects = new Map<string, Buffer>();
  const server: Server = createServer(async (request, response) => {
    const body = await buffer(request);
    const path = request.url ?? '';
    const answer = (status: number, content?: Buffer) => response.writeHead(status).end(content);
    if (!request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 Credential=key/')) return answer(403);
    if (request.method === 'PUT') {
      if (request.headers['x-amz-content-sha256'] !== sha256(body)) return answer(400);
      objects.set(path, body);
      return answer(200);
    }
    if (request.method === 'DELETE') return answer(objects.delete(path) ? 204 : 404);
    const object = objects.get(path);
    return object ? answer(200, request.method === 'HEAD' ? undefined : object) : answer(404);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { objects, server, url: `http://127.0.0.1:${port}/bucket/` };
};

const storages = (): Record<'postgres' | 'disk' | 's3', ArtifactStorage> => {
  const s3 = { url: bucket.url, region: 'us-east-1', access_key_id: 'key', secret_access_key: 'secret' };
  return {
    postgres: artifactStorage(null),
    disk: artifactStorage(diskPlace(directory), 100),
    s3: artifactStorage(s3Place(s3), 100),
  };
};

/** A run that keeps a file and ends with a result that names it. */
const runThatKeeps = async (storage: ArtifactStorage, content: Uint8Array, name = 'a.txt') => {
  const { claimed } = await startOne(store);
  const { tenant, invocation_id } = claimed;
  const file = { name, media_type: 'text/plain', content: [content.subarray(0, 7), content.subarray(7)] };
  const artifact = await keepArtifact(store, storage, { tenant, invocation_id, attempt: 1 }, file);
  await settleClaims(store, [newSettlement(claimed, { result: { artifacts: [artifact] } })]);
  return artifact;
};

describe.each(['postgres', 'disk', 's3'] as const)('an artifact in %s', (place) => {
  test('is named by its hash, and is returned unchanged', async () => {
    const storage = storages()[place];
    const content = Buffer.from(`in ${place} ${'x'.repeat(5000)}`);
    const artifact = await runThatKeeps(storage, content);
    expect(artifact).toEqual({
      sha256: sha256(content),
      name: 'a.txt',
      media_type: 'text/plain',
      size: content.length,
    });
    const found = await findArtifact(store, 'acme', artifact.sha256);
    expect(found).toEqual({ ...artifact, place });
    if (found) expect(await buffer(await readArtifact(store, storage, found))).toEqual(content);
  });

  test('of two runs is stored once, under the later name', async () => {
    const storage = storages()[place];
    const content = Buffer.from(`twice in ${place} ${'y'.repeat(5000)}`);
    await runThatKeeps(storage, content, 'first');
    const { sha256: hash } = await runThatKeeps(storage, content, 'second');
    expect(await findArtifact(store, 'acme', hash)).toMatchObject({ name: 'second' });
    const rows = await store.db.selectFrom('artifacts').select('size').where('sha256', '=', hash).execute();
    expect(rows).toHaveLength(1);
  });

  test('is deleted with the last invocation that refers to it', async () => {
    const storage = storages()[place];
    const { sha256: hash } = await runThatKeeps(storage, Buffer.from(`forgotten in ${place} ${'z'.repeat(500)}`));
    await sql`UPDATE artifacts SET used_at = now() - interval '2 days'`.execute(store.db);
    await deleteUnusedArtifacts(store, storage, 100);
    expect(await findArtifact(store, 'acme', hash)).toBeDefined();
    await sql`UPDATE invocations SET created_at = now() - interval '2 days'`.execute(store.db);
    await sql`UPDATE results SET finished_at = now() - interval '2 days'`.execute(store.db);
    await resultsWalk().step(store, retentionRules({ results_days: 1 }, []), 100);
    expect(await deleteUnusedArtifacts(store, storage, 100)).toBeGreaterThan(0);
    expect(await findArtifact(store, 'acme', hash)).toBeUndefined();
    if (place === 'disk') expect(await readdir(join(directory, hash.slice(0, 2)))).not.toContain(hash);
    if (place === 's3') expect([...bucket.objects.keys()].join()).not.toContain(hash);
  });
});

describe('an artifact can be read', () => {
  test('only by a tenant with a result that refers to it', async () => {
    const content = Buffer.from('only for acme');
    const { sha256: hash } = await runThatKeeps(storages().postgres, content);
    expect(await findArtifact(store, 'other', hash)).toBeUndefined();
    expect(await findArtifact(store, 'acme', '0'.repeat(64))).toBeUndefined();
  });

  test('by nobody as long as no result refers to it', async () => {
    const { claimed } = await startOne(store);
    const { tenant, invocation_id } = claimed;
    const file = { name: 'a', media_type: 'text/plain', content: Buffer.from('not settled') };
    const { sha256: hash } = await keepArtifact(
      store,
      storages().postgres,
      { tenant, invocation_id, attempt: 1 },
      file,
    );
    expect(await findArtifact(store, 'acme', hash)).toBeUndefined();
  });
});

describe('an artifact that is too large', () => {
  test('is refused with the setting for large artifacts, and leaves nothing behind', async () => {
    const small = artifactStorage(null, 10);
    const { claimed } = await startOne(store);
    const file = { name: 'a', media_type: 'text/plain', content: Buffer.alloc(100) };
    await expect(keepArtifact(store, small, claimed, file)).rejects.toMatchObject({
      kind: 'STORAGE_REFUSED',
      message: expect.stringContaining('CAPSTAN_ARTIFACTS_DIR'),
    });
    await expect(keepArtifact(store, { ...small, max_bytes: 50 }, claimed, file)).rejects.toThrow('50 bytes at most');
  });
});
