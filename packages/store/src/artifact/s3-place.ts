import { openAsBlob } from 'node:fs';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { Failure } from '@capstan/contracts';
import { AwsClient } from 'aws4fetch';
import type { ArtifactPlace } from './artifact-place.js';

export type S3Options = {
  /** `https://host/bucket`, optionally with a prefix, of any S3-compatible service. */
  url: string;
  region: string;
  access_key_id: string;
  secret_access_key: string;
};

const PATIENCE_MS = 120_000;

export const s3Place = ({ url, region, access_key_id, secret_access_key }: S3Options): ArtifactPlace => {
  const client = new AwsClient({
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    service: 's3',
    region,
    retries: 3,
  });
  const base = url.replace(/\/$/, '');
  const send = async (method: string, sha256: string, more: RequestInit = {}): Promise<Response> => {
    const response = await client
      .fetch(`${base}/${sha256}`, { method, signal: AbortSignal.timeout(PATIENCE_MS), ...more })
      .catch((cause: unknown) => {
        throw new Failure('STORAGE_UNAVAILABLE', { detail: 'The artifact storage cannot be reached.', cause });
      });
    if (response.ok || response.status === 404) return response;
    await response.body?.cancel();
    throw new Failure('STORAGE_UNAVAILABLE', {
      detail: `The artifact storage answered ${response.status} to ${method}.`,
    });
  };
  const has = async (sha256: string) => (await send('HEAD', sha256)).status !== 404;
  return {
    name: 's3',
    has,
    put: async (sha256, file) => {
      if (await has(sha256)) return;
      // A blob of the file has a known length and is read while it is sent. The service verifies its hash.
      const body = await openAsBlob(file);
      const { status } = await send('PUT', sha256, { body, headers: { 'x-amz-content-sha256': sha256 } });
      if (status === 404) throw new Failure('STORAGE_REFUSED', { detail: 'The bucket for artifacts does not exist.' });
    },
    get: async (sha256) => {
      const { status, body } = await send('GET', sha256);
      // The web's ReadableStream and Node's are the same class under two types.
      return status === 404 || body === null ? null : Readable.fromWeb(body as ReadableStream);
    },
    delete: async (sha256) => {
      await send('DELETE', sha256);
    },
  };
};
