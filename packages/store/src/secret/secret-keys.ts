import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { Failure } from '@capstan/contracts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export type Sealed = { key_id: string; sealed: Buffer };

/**
 * The keys that encrypt secrets at rest: the first one encrypts, all of them decrypt. To rotate, put a new key first and rewrap.
 */
export type SecretKeys = {
  /** The id of the key that encrypts; undefined if there is no key. */
  readonly key_id: string | undefined;
  seal(place: Place, value: string): Sealed;
  open(place: Place, sealed: Sealed): string;
};

/** A value is bound to its place: a row copied to another tenant or name cannot be decrypted. */
type Place = { tenant: string; name: string };

/** `text`: keys of 32 bytes in base64 or hex, separated by commas. Throws if one is invalid, without quoting it. */
export const parseSecretKeys = (text: string | undefined): SecretKeys => {
  const keys = (text ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '')
    .map(parseKey);
  const byId = new Map(keys.map((key) => [idOf(key), key]));
  const [first] = byId;
  return {
    key_id: first?.[0],
    seal: (place, value) => {
      if (!first) throw noKey('Secrets cannot be kept: no key to encrypt them with is set.');
      return { key_id: first[0], sealed: encrypt(first[1], place, value) };
    },
    open: (place, { key_id, sealed }) => {
      const key = byId.get(key_id);
      if (!key) throw noKey(`The secret ${place.name} is encrypted with the key ${key_id}, which is not set here.`);
      return decrypt(key, place, sealed);
    },
  };
};

const parseKey = (text: string, index: number): Buffer => {
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (key.length !== KEY_BYTES)
    throw new Error(`key ${index + 1} is not 32 bytes in base64 or hex; make one with: openssl rand -base64 32`);
  return key;
};

const idOf = (key: Buffer): string =>
  createHash('sha256').update('capstan-secrets-key').update(key).digest('hex').slice(0, 8);

const placeBytes = ({ tenant, name }: Place): Buffer => Buffer.from(JSON.stringify([tenant, name]));

const encrypt = (key: Buffer, place: Place, value: string): Buffer => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(placeBytes(place));
  const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
};

const decrypt = (key: Buffer, place: Place, sealed: Buffer): string => {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(placeBytes(place))
    .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString(
      'utf8',
    );
  } catch (cause) {
    throw new Failure('STORAGE_REFUSED', { detail: `The secret ${place.name} was changed outside of Capstan.`, cause });
  }
};

const noKey = (detail: string): Failure =>
  new Failure('ILLEGAL_STATE', {
    detail,
    suggestion: 'Set CAPSTAN_SECRETS_KEY on gateway and workers: 32 bytes in base64, from openssl rand -base64 32.',
  });
