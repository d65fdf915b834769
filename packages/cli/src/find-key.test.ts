import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveConnection } from './connection.js';
import { findKey } from './find-key.js';

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'capstan-key-'));
  mkdirSync(join(root, '.capstan'));
  mkdirSync(join(root, 'a', 'b'), { recursive: true });
  mkdirSync(join(root, 'data'));
  writeFileSync(join(root, '.capstan', 'admin.key'), 'from-parent\n');
  writeFileSync(join(root, 'data', 'admin.key'), 'from-data');
});
afterAll(() => rmSync(root, { recursive: true }));

describe('the key', () => {
  it('is found in a folder above', () => {
    expect(findKey({}, join(root, 'a', 'b'))?.key).toBe('from-parent');
  });

  it('is taken from the data folder when one is set, and from nowhere else then', () => {
    expect(findKey({ CAPSTAN_DATA_DIR: join(root, 'data') }, root)?.key).toBe('from-data');
    expect(findKey({ CAPSTAN_DATA_DIR: join(root, 'a') }, root)).toBeNull();
  });

  it('is rather that of the environment, and rather still that of the option', () => {
    expect(findKey({ CAPSTAN_API_KEY: 'env' }, root)).toEqual({ key: 'env', origin: 'CAPSTAN_API_KEY' });
    expect(resolveConnection({ key: 'option' }, { CAPSTAN_API_KEY: 'env' }, root).key?.key).toBe('option');
  });
});

describe('the address', () => {
  const url = (options: { url?: string }, env: Record<string, string>): string =>
    resolveConnection(options, env, '/').url;

  it('is the option, CAPSTAN_URL, a port of the environment, or the default', () => {
    expect(url({ url: 'http://a/' }, { CAPSTAN_URL: 'http://b' })).toBe('http://a');
    expect(url({}, { CAPSTAN_URL: 'http://b', PORT: '1' })).toBe('http://b');
    expect(url({}, { CAPSTAN_PORT: '8080', PORT: '1' })).toBe('http://127.0.0.1:8080');
    expect(url({}, { PORT: '8081' })).toBe('http://127.0.0.1:8081');
    expect(url({}, { CAPSTAN_URL: '' })).toBe('http://127.0.0.1:7070');
  });

  it('must be one', () => {
    expect(() => url({ url: 'localhost:7070' }, {})).toThrow('not an address');
  });
});
