import { Failure } from '@capstan/contracts';

export type HeaderValues = Record<string, string>;

/** Headers that callers cannot set, because they control the framing of a message or its host. */
const FRAMING = new Set([
  'host',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers that are sent to another origin after a redirect. Any other one could be a credential under a custom name. */
const HARMLESS = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'range', 'user-agent']);

const ABOUT_BODY = new Set(['content-type', 'content-encoding', 'content-language', 'content-location']);

/** Converts names to lower case. If a header is given twice in different spellings, the last one wins. */
export function requestHeaders(headers: HeaderValues): HeaderValues {
  const lower = Object.entries(headers).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  const framing = lower.find(([name]) => FRAMING.has(name));
  if (framing) throw new Failure('INVALID_INPUTS', { detail: `the header ${framing[0]} cannot be set` });
  return Object.fromEntries(lower);
}

export const acrossOrigins = (headers: HeaderValues): HeaderValues => only(headers, (name) => HARMLESS.has(name));
export const withoutBody = (headers: HeaderValues): HeaderValues => only(headers, (name) => !ABOUT_BODY.has(name));

const only = (headers: HeaderValues, keep: (name: string) => boolean): HeaderValues =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => keep(name)));
