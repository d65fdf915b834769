import * as crypto from 'node:crypto';
import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';

/** Returns `sha256:` and the hex digest of the canonical JSON. */
export const hashJson = (value: unknown): string => hashText(canonicalJson(value));

/** crypto.hash (Node 20.12+) creates no stream object, unlike createHash. Measured about twice as fast on short texts. */
export const hashText: (text: string) => string =
  typeof crypto.hash === 'function'
    ? (text) => `sha256:${crypto.hash('sha256', text, 'hex')}`
    : (text) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
