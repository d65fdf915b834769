import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { hashJson, hashText } from './hash-json.js';

/** The statement that a seal makes about a run. The root is the last link of the chain, which starts from the run's id. */
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

/** An Ed25519 key: the public key as 32 bytes, and a function that signs. */
export type SealKey = { public_key: Buffer; sign(bytes: Uint8Array): Buffer };

const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SEED_BYTES = 32;
const KEY_BYTES = 32;

/** Parses an Ed25519 key from PEM, or from its 32-byte seed in base64. */
export function parseSealKey(text: string): SealKey {
  const key = text.includes('-----BEGIN') ? createPrivateKey(text.replaceAll('\\n', '\n')) : fromSeed(text);
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('the key that signs checkpoints must be an Ed25519 key');
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return { public_key: spki.subarray(-KEY_BYTES), sign: (bytes) => sign(null, bytes, key) };
}

function fromSeed(text: string): KeyObject {
  const seed = Buffer.from(text.trim(), 'base64');
  if (seed.length !== SEED_BYTES) throw new TypeError('the seed of an Ed25519 key must be 32 bytes in base64');
  return createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), format: 'der', type: 'pkcs8' });
}

const keyId = (public_key: string): string => `ed25519:${hashText(public_key).slice(7, 23)}`;

/** True if the seal is signed by the key it names. It does not prove whose key that is; compare the key id. */
export function isSigned({ seal_hash, signature, key_id, public_key }: Seal): boolean {
  if (signature === null || public_key === null || key_id !== keyId(public_key)) return false;
  try {
    const key = createPublicKey({ key: Buffer.from(public_key, 'base64'), format: 'der', type: 'spki' });
    return verify(null, Buffer.from(seal_hash), key, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}
