import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import fastifyStatic, { type FastifyStaticOptions } from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** No foreign resources, only our own script files, no framing. CodeMirror and React set inline styles. */
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

/** Vite puts a content hash into the names of these files. */
const ASSETS = `${sep}assets${sep}`;
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Answers a page route of the console; returns false if the request is not for a page. */
export type AnswerPage = (request: FastifyRequest, reply: FastifyReply) => boolean;

/**
 * Serves the built console at `/`. A deep link such as /holds/hld_… is not a file: it gets index.html, and the application routes
 * it in the browser.
 */
export function serveConsole(app: FastifyInstance, dir: string | null): AnswerPage {
  if (dir === null) {
    app.get('/', (_request, reply) => reply.headers(HEADERS).type('text/plain; charset=utf-8').send(NOT_BUILT));
    return () => false;
  }
  const options: FastifyStaticOptions = {
    root: dir,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (response, path) => {
      for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
      response.setHeader('cache-control', path.includes(ASSETS) ? FOR_EVER : 'no-cache');
    },
  };
  // A route for each file at the top, so that other paths there are answered like any unknown path. One for all assets: a route for
  // each of 200 took a quarter of the gateway's start.
  void app.register(fastifyStatic, { ...options, wildcard: false, globIgnore: ['assets/**'] });
  void app.register(fastifyStatic, { ...options, root: join(dir, 'assets'), prefix: '/assets/', decorateReply: false });
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

/** The folder of the built console; null if it was not built. */
export function findConsole(): string | null {
  // Next to the bundled command, in an installed package.
  const bundled = join(import.meta.dirname, 'console');
  if (existsSync(join(bundled, 'index.html'))) return bundled;
  try {
    const dir = join(dirname(createRequire(import.meta.url).resolve('@capstan/console/package.json')), 'dist');
    return existsSync(join(dir, 'index.html')) ? dir : null;
  } catch {
    return null;
  }
}
