import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** The contents of a link to a hold: its id, its expiry, and a nonce that makes it unique. */
export type HoldLink = { hold_id: string; expires_at: number; nonce: string };

const SEPARATOR = '.';

/** Signed with the secret of the endpoint, so that links cannot be forged or used for another endpoint. */
export function signHoldLink(secret: string, hold_id: string, expires_at: number): string {
  const said = [hold_id, String(expires_at), randomBytes(16).toString('base64url')].join(SEPARATOR);
  return `${said}${SEPARATOR}${signatureOf(secret, said)}`;
}

/** Null if the link was not signed with this secret, or has expired. The caller checks whether it was used before. */
export function readHoldLink(secret: string, token: string, now = Date.now()): HoldLink | null {
  const at = token.lastIndexOf(SEPARATOR);
  const said = token.slice(0, Math.max(0, at));
  const [hold_id, expires_at, nonce, ...more] = said.split(SEPARATOR);
  if (hold_id === undefined || expires_at === undefined || nonce === undefined || more.length > 0) return null;
  if (!isSame(token.slice(at + 1), signatureOf(secret, said))) return null;
  return Number(expires_at) > now ? { hold_id, expires_at: Number(expires_at), nonce } : null;
}

const signatureOf = (secret: string, said: string): string =>
  createHmac('sha256', secret).update(`hold-link:${said}`).digest('base64url');

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
