import type { OpenApiOptions } from '@capstan/contracts';
import type { OpenApiDocument, Operation, SecurityScheme } from './openapi-document.js';

export type AuthContext = {
  document: Pick<OpenApiDocument, 'security'>;
  schemes: Record<string, SecurityScheme>;
  auth: NonNullable<OpenApiOptions['auth']>;
};

/** The first alternative for which every scheme has a secret. Without one, the call is sent unauthenticated. */
export function authHeaders(
  { security }: Operation,
  { document, schemes, auth }: AuthContext,
  warnings: string[],
): Record<string, string> {
  const alternatives = security ?? document.security;
  const isOptional = alternatives.some((each) => Object.keys(each).length === 0);
  if (alternatives.length === 0 || (isOptional && Object.keys(auth).length === 0)) return {};
  const problems = new Set<string>();
  for (const alternative of alternatives) {
    const headers: Record<string, string> = {};
    const wanting = Object.keys(alternative).filter((name) => {
      const header = headerOf(schemes[name], auth[name] ?? auth['*']);
      if (typeof header === 'string') problems.add(`${name} (${header})`);
      else headers[header[0]] = header[1];
      return typeof header === 'string';
    });
    if (wanting.length === 0) return headers;
  }
  warnings.push(`it is called without authentication: ${[...problems].join(', ')}`);
  return {};
}

/** The header that carries the secret, or why there is none. */
function headerOf(scheme: SecurityScheme | undefined, secret: string | undefined): [string, string] | string {
  if (scheme === undefined) return 'the document does not define it';
  const { type, name, in: place } = scheme;
  const kind = type === 'http' ? (scheme.scheme ?? '').toLowerCase() : type;
  if (type === 'apiKey' && (place !== 'header' || name === undefined)) return `a key in the ${place} is not supported`;
  if (!SUPPORTED.has(kind)) return `${kind} is not supported`;
  if (secret === undefined) return 'name a secret for it with auth';
  if (type === 'apiKey') return [name ?? '', secret];
  return ['Authorization', `${kind === 'basic' ? 'Basic' : 'Bearer'} ${secret}`];
}

const SUPPORTED = new Set(['apiKey', 'basic', 'bearer', 'oauth2', 'openIdConnect']);
