import { Failure } from '@capstan/contracts';
import type { Call } from '../runner.js';

const REFERENCE = /secret:\/\/([A-Za-z0-9_.-]{1,200})/g;

/** `secret://name`, alone or within a value like `Bearer secret://name`, becomes the secret itself. */
export async function withSecrets(
  headers: Record<string, string>,
  url: string,
  { secret, limits }: Pick<Call, 'secret' | 'limits'>,
): Promise<Record<string, string>> {
  const entries = Object.entries(headers);
  if (!entries.some(([, value]) => value.includes('secret://'))) return headers;
  // On the way to a public server anybody could read it; where private addresses are allowed there may be no TLS at all.
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && limits.deny_private_ips !== false)
    throw new Failure('EGRESS_DENIED', { detail: 'a secret is sent over https: only' });
  const filled = await Promise.all(
    entries.map(async ([name, value]) => [name, await fill(value, (name) => secret(name, [hostname]))] as const),
  );
  return Object.fromEntries(filled);
}

async function fill(value: string, secret: (name: string) => Promise<string>): Promise<string> {
  const values = new Map<string, string>();
  for (const [, name = ''] of value.matchAll(REFERENCE)) values.set(name, values.get(name) ?? (await secret(name)));
  return value.replaceAll(REFERENCE, (whole, name: string) => values.get(name) ?? whole);
}
