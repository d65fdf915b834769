import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { hashJson, hashText } from './hash-json.js';

/** What a seal says of a run. The root is the last link of its chain, which starts from the run's id. */
export type SealStatement = {
  run_id: string;
  generation: number;
  tenant: string;
  root: string;
  count: number;
  first_id: string | null;
  last_id: string | null;
  plan_hash: string | null;
  policy_hash: string | null;
  sealed_at: string;
};

export type Seal = SealStatement & {
  seal_hash: string;
  signature: string | null;
  key_id: string | null;
  public_key: string | null;
};

export const SEAL_FIELDS = [
  ...(['run_id', 'generation', 'tenant', 'root', 'count', 'first_id', 'last_id', 'plan_hash', 'policy_hash'] as const),
  'sealed_at' as const,
];

export const sealHash = (statement: SealStatement): string =>
  hashJson(Object.fromEntries(SEAL_FIELDS.map((field) => [field, statement[field]])));

/** An Ed25519 key: its public half as 32 bytes, and what it signs. */
export type SealKey = { public_key: Buffer; sign(bytes: Uint8Array): Buffer };

const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SEED_BYTES = 32;
const KEY_BYTES = 32;

/** An Ed25519 key as PEM, or its seed of 32 bytes in base64. */
export function parseSealKey(text: string): SealKey {
  const key = text.includes('-----BEGIN') ? createPrivateKey(text.replaceAll('\\n', '\n')) : fromSeed(text);
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('checkpoints are signed with an Ed25519 key');
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return { public_key: spki.subarray(-KEY_BYTES), sign: (bytes) => sign(null, bytes, key) };
}

function fromSeed(text: string): KeyObject {
  const seed = Buffer.from(text.trim(), 'base64');
  if (seed.length !== SEED_BYTES) throw new TypeError('a seed of an Ed25519 key is 32 bytes in base64');
  return createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), format: 'der', type: 'pkcs8' });
}

const keyId = (public_key: string): string => `ed25519:${hashText(public_key).slice(7, 23)}`;

/** Whether the key that the seal names signed it; whose key that is, its id tells who knows it. */
export function isSigned({ seal_hash, signature, key_id, public_key }: Seal): boolean {
  if (signature === null || public_key === null || key_id !== keyId(public_key)) return false;
  try {
    const key = createPublicKey({ key: Buffer.from(public_key, 'base64'), format: 'der', type: 'spki' });
    return verify(null, Buffer.from(seal_hash), key, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}
