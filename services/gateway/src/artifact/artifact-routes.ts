import { findArtifact, readArtifact } from '@capstan/store/artifact';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';

const SHA256 = /^[0-9a-f]{64}$/;

export const artifactRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/artifacts/{sha256}',
    summary: 'Download an artifact',
    roles: ['submit', 'operate', 'audit'],
    answers: {
      200: {
        description: 'The bytes, with the media type and the name that the run gave them',
        media_type: '*/*',
      },
    },
    handle: async ({ store, artifacts }, { principal, params, request, reply }) => {
      const sha256 = params.sha256 ?? '';
      const found = SHA256.test(sha256) ? await findArtifact(store, principal.tenant, sha256) : undefined;
      if (!found) throw notFound(`artifact ${sha256.slice(0, 64)}`);
      // The content never changes, because its hash is its name. Whether the caller may read it can change.
      reply.headers({ etag: `"${sha256}"`, 'cache-control': 'private, no-cache' });
      if (request.headers['if-none-match'] === `"${sha256}"`) return reply.code(304).send();
      // A tool wrote it: browsers have to save it, and must never render it as a page of this origin.
      reply.headers({
        'content-type': headerText(found.media_type),
        'content-length': found.size,
        'content-disposition': `attachment; filename*=UTF-8''${encodeName(found.name)}`,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'",
      });
      return reply.send(await readArtifact(store, artifacts, found));
    },
  }),
];

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;
const headerText = (media_type: string): string =>
  MEDIA_TYPE.test(media_type) ? media_type : 'application/octet-stream';

/** RFC 8187; encodeURIComponent leaves a few characters that it does not allow. */
const encodeName = (name: string): string =>
  encodeURIComponent(name.toWellFormed().split('/').at(-1) ?? 'artifact').replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
