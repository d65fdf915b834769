import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { TreeHead } from './merkle-proof.js';
import { sha256 } from './merkle-tree.js';
import type { SealKey } from './seal.js';

/** The state of a log: its origin, size and root hash (C2SP tlog-checkpoint). */
export type Checkpoint = TreeHead & { origin: string };

/** A parsed checkpoint, with the signed text and its signatures. */
export type SignedCheckpoint = Checkpoint & {
  text: string;
  signatures: { name: string; key_id: Buffer; signature: Buffer }[];
};

export class CheckpointError extends Error {
  override readonly name = 'CheckpointError';
}

const ED25519 = 0x01;
const KEY_ID_BYTES = 4;

/** Each tenant of an installation has its own log. */
export const logOrigin = (installation: string, tenant: string): string =>
  `capstan/${installation}/${encodeURIComponent(tenant)}`;

/** Writes a signed note (C2SP signed-note). Without a key, it is the text and the empty line that precedes signatures. */
export function writeCheckpoint({ origin, size, root }: Checkpoint, key: SealKey | null): string {
  const text = `${origin}\n${size}\n${root.toString('base64')}\n`;
  if (!key) return `${text}\n`;
  const signed = Buffer.concat([keyId(origin, key.public_key), key.sign(Buffer.from(text))]);
  return `${text}\n— ${origin} ${signed.toString('base64')}\n`;
}

export function parseCheckpoint(note: string): SignedCheckpoint {
  const end = note.indexOf('\n\n');
  const text = note.slice(0, end + 1);
  const [origin, size, root] = text.split('\n');
  if (end < 0 || !origin || !/^(0|[1-9]\d{0,15})$/.test(size ?? '') || !root)
    throw new CheckpointError('not a checkpoint: expected an origin, a size and a root, each on its own line');
  const bytes = Buffer.from(root, 'base64');
  if (bytes.length !== 32 || bytes.toString('base64') !== root)
    throw new CheckpointError('the root of the checkpoint is not a SHA-256 hash in base64');
  const lines = note
    .slice(end + 2)
    .split('\n')
    .filter((line) => line !== '');
  const signatures = lines.map((line) => {
    const [, name, signed] = /^— (\S+) ([A-Za-z0-9+/]+=*)$/.exec(line) ?? [];
    const blob = Buffer.from(signed ?? '', 'base64');
    if (name === undefined || blob.length <= KEY_ID_BYTES)
      throw new CheckpointError('a line below the text of the checkpoint is not a signature');
    return { name, key_id: blob.subarray(0, KEY_ID_BYTES), signature: blob.subarray(KEY_ID_BYTES) };
  });
  return { origin, size: Number(size), root: bytes, text, signatures };
}

/** Encodes a public key as `name+id+key` (C2SP signed-note). */
export const verifierKey = (origin: string, { public_key }: Pick<SealKey, 'public_key'>): string =>
  `${origin}+${keyId(origin, public_key).toString('hex')}+${Buffer.concat([Buffer.of(ED25519), public_key]).toString('base64')}`;

/** True if the holder of this key signed the checkpoint. */
export function isSignedBy(
  { text, signatures }: Pick<SignedCheckpoint, 'text' | 'signatures'>,
  verifier_key: string,
): boolean {
  const key = parseVerifierKey(verifier_key);
  return signatures.some(
    ({ name, key_id, signature }) =>
      name === key.name && key_id.equals(key.key_id) && verify(null, Buffer.from(text), key.public_key, signature),
  );
}

/** Like `isSignedBy`, but returns false for an invalid key, because the key comes from the same source as the checkpoint. */
export const isSignedByClaimed = (...[checkpoint, key]: Parameters<typeof isSignedBy>): boolean => {
  try {
    return isSignedBy(checkpoint, key);
  } catch (error) {
    if (error instanceof CheckpointError) return false;
    throw error;
  }
};

const SPKI_ED25519 = Buffer.from('302a300506032b6570032100', 'hex');

function parseVerifierKey(verifier_key: string): { name: string; key_id: Buffer; public_key: KeyObject } {
  const [, name, id, encoded] = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(verifier_key) ?? [];
  const bytes = Buffer.from(encoded ?? '', 'base64');
  if (name === undefined || bytes.length !== 33 || bytes[0] !== ED25519)
    throw new CheckpointError('not a verifier key: expected <name>+<id>+<Ed25519 key in base64>');
  const raw = bytes.subarray(1);
  const key_id = keyId(name, raw);
  if (key_id.toString('hex') !== id) throw new CheckpointError('the id of the verifier key does not match its key');
  return {
    name,
    key_id,
    public_key: createPublicKey({ key: Buffer.concat([SPKI_ED25519, raw]), format: 'der', type: 'spki' }),
  };
}

const keyId = (name: string, public_key: Uint8Array): Buffer =>
  sha256(Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ED25519), public_key])).subarray(0, KEY_ID_BYTES);
