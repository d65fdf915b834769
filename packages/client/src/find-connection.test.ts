import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from './create-client.js';
import { Invalid } from './errors.js';
import { findConnection } from './find-connection.js';

const PROFILES = {
  current: 'prod',
  profiles: { prod: { url: 'https://prod', key: 'of-prod' }, staging: { url: 'https://staging', key: 'of-staging' } },
};

let root = '';
/** Below a folder where `capstan up` ran. */
let inside = '';
let home: Record<string, string> = {};
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'capstan-connection-'));
  inside = join(root, 'project', 'a', 'b');
  mkdirSync(inside, { recursive: true });
  mkdirSync(join(root, 'project', '.capstan'));
  writeFileSync(join(root, 'project', '.capstan', 'admin.key'), 'from-folder\n');
  mkdirSync(join(root, 'data'));
  writeFileSync(join(root, 'data', 'admin.key'), 'from-data');
  mkdirSync(join(root, 'capstan'));
  writeFileSync(join(root, 'capstan', 'profiles.json'), JSON.stringify(PROFILES), { mode: 0o600 });
  home = { XDG_CONFIG_HOME: root };
});
afterAll(() => rmSync(root, { recursive: true }));

/** The address and the key that are found, as one text. */
const found = (...args: Parameters<typeof findConnection>): string => {
  const { url, key } = findConnection(...args);
  return `${url} ${key?.key ?? 'no key'}`;
};

test('without anything said, the gateway is the one that capstan up starts here or in a folder above', () => {
  expect(found({}, home, inside)).toBe('http://127.0.0.1:7070 from-folder');
  expect(found({}, { CAPSTAN_PORT: '8080', PORT: '1' }, inside)).toBe('http://127.0.0.1:8080 from-folder');
  expect(findConnection({}, {}, inside).key?.origin).toBe(join(root, 'project', '.capstan', 'admin.key'));
});

test('the environment goes before what lies in folders, and what is given before the environment', () => {
  const env = { ...home, CAPSTAN_URL: 'http://gateway', CAPSTAN_API_KEY: 'from-env' };
  expect(found({}, env, inside)).toBe('http://gateway from-env');
  expect(found({ key: 'given' }, env, inside)).toBe('http://gateway given');
});

test('an address that is given gets no key that was not', () => {
  expect(found({ url: 'http://elsewhere' }, { ...home, CAPSTAN_API_KEY: 'from-env' }, inside)).toBe(
    'http://elsewhere no key',
  );
});

test('a data folder that is set is the only place where a key is looked for', () => {
  expect(found({}, { CAPSTAN_DATA_DIR: join(root, 'data') }, inside)).toBe('http://127.0.0.1:7070 from-data');
  expect(found({}, { CAPSTAN_DATA_DIR: root }, inside)).toBe('http://127.0.0.1:7070 no key');
});

describe('a profile of capstan login', () => {
  test('is used where nothing else names a gateway or a key', () => {
    expect(found({}, home, '/')).toBe('https://prod of-prod');
    expect(found({}, { ...home, CAPSTAN_URL: 'http://gateway' }, '/')).toBe('http://gateway no key');
    expect(found({}, { ...home, PORT: '8080' }, '/')).toBe('http://127.0.0.1:8080 no key');
    expect(found({ key: 'given' }, home, '/')).toBe('http://127.0.0.1:7070 given');
  });

  test('that CAPSTAN_PROFILE names goes before the folder, and after an address or key of the environment', () => {
    const env = { ...home, CAPSTAN_PROFILE: 'staging' };
    expect(found({}, env, inside)).toBe('https://staging of-staging');
    expect(found({}, { ...env, CAPSTAN_URL: 'http://gateway', CAPSTAN_API_KEY: 'from-env' }, inside)).toBe(
      'http://gateway from-env',
    );
  });

  test('that is given goes before everything else, except a key that is given too', () => {
    const env = { ...home, CAPSTAN_URL: 'http://gateway', CAPSTAN_API_KEY: 'from-env' };
    expect(found({ profile: 'staging' }, env, inside)).toBe('https://staging of-staging');
    expect(found({ profile: 'staging', key: 'given' }, env, inside)).toBe('https://staging given');
    expect(() => found({ profile: 'staging', url: 'http://elsewhere' }, env, inside)).toThrow('two gateways');
  });

  test('that does not exist is refused by the client with those that do', () => {
    expect(() => findConnection({ profile: 'toString' }, home, '/')).toThrow(Invalid);
    expect(() => findConnection({ profile: 'test' }, home, '/')).toThrow(
      expect.objectContaining({ detail: 'there is no profile test', suggestion: expect.stringContaining('staging') }),
    );
    expect(() => createClient({ profile: 'none-of-this-name' })).toThrow('there is no profile none-of-this-name');
  });

  test('is not read from a file that others may read, or that is not what login writes', () => {
    const other = join(root, 'other');
    mkdirSync(join(other, 'capstan'), { recursive: true });
    const file = join(other, 'capstan', 'profiles.json');
    writeFileSync(file, '{"profiles":{"prod":{}}}', { mode: 0o600 });
    expect(() => findConnection({}, { XDG_CONFIG_HOME: other }, '/')).toThrow('not what capstan login writes');
    chmodSync(file, 0o644);
    expect(() => findConnection({}, { XDG_CONFIG_HOME: other }, '/')).toThrow('others may read');
  });
});
