import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Nothing from elsewhere, no script but our own files, and no page of others around it. CodeMirror and React set styles. */
const CSP = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': CSP,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** Vite names these by their content. */
const ASSETS = `${sep}assets${sep}`;
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Answers a page route of the console; false where the request is not for a page. */
export type AnswerPage = (request: FastifyRequest, reply: FastifyReply) => boolean;

/**
 * The console at `/`, from files that were built before; where the browser asks for a page that is no file (a deep link
 * such as /holds/hld_…), the application itself, which knows its pages.
 */
export function serveConsole(app: FastifyInstance, dir: string | null): AnswerPage {
  if (dir === null) {
    app.get('/', (_request, reply) => reply.headers(HEADERS).type('text/plain; charset=utf-8').send(NOT_BUILT));
    return () => false;
  }
  void app.register(fastifyStatic, {
    root: dir,
    // Each file has its route: what is not there is answered like any other unknown path.
    wildcard: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (response, path) => {
      for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
      response.setHeader('cache-control', path.includes(ASSETS) ? FOR_EVER : 'no-cache');
    },
  });
  return (request, reply) => {
    if (!isPage(request)) return false;
    void reply.sendFile('index.html');
    return true;
  };
}

const NOT_BUILT = `Capstan is running. Its console is not built.

Build it with "npm run build", then start the gateway again. The API is at /v1, its description at /openapi.json.
`;

const isPage = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  headers.accept?.includes('text/html') === true &&
  !/^\/(v1|mcp|assets)(\/|$|\?)/.test(url);

/** Where the console was built; null where it was not. */
export function findConsole(): string | null {
  // Beside the bundled command, as it is installed.
  const bundled = join(import.meta.dirname, 'console');
  if (existsSync(join(bundled, 'index.html'))) return bundled;
  try {
    const dir = join(dirname(createRequire(import.meta.url).resolve('@capstan/console/package.json')), 'dist');
    return existsSync(join(dir, 'index.html')) ? dir : null;
  } catch {
    return null;
  }
}
