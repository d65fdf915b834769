import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RunOptions, run } from '../testing/run-in-test.js';

let server: Server;
let url = '';
let home = '';
let seen: string[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    const key = request.headers.authorization ?? '';
    seen.push(key);
    const known = key === 'Bearer good';
    response
      .writeHead(known ? 200 : 401, { 'content-type': 'application/json' })
      .end(
        JSON.stringify(
          known
            ? { actor: 'ann', tenant: 'default', roles: ['submit'], via: 'key', expires_at: null }
            : { type: 'x', title: 'x', status: 401, detail: 'this key is not known', code: 6001, suggestion: '' },
        ),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'capstan-home-'));
  seen = [];
  return () => rmSync(home, { recursive: true });
});

const capstan = (args: string[], { env, ...options }: RunOptions = {}) =>
  run(args, { cwd: home, env: { HOME: home, ...env }, ...options });
const file = () => join(home, '.config', 'capstan', 'profiles.json');

describe('login', () => {
  it('saves a key from a pipe in a file that only its owner can read, and commands use it from then on', async () => {
    const { code, stdout } = await capstan(['login', url], { stdin: 'good\n' });
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('default: ann of default') });
    expect(stdout).not.toContain('good');
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({
      current: 'default',
      profiles: { default: { url, key: 'good' } },
    });
    expect(await capstan(['whoami'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ann\n/) });
    const { stdout: listed } = await capstan(['profiles', '--json']);
    expect(JSON.parse(listed).items).toEqual([{ name: 'default', url, current: true }]);
  });

  it('saves nothing if the gateway rejects the key', async () => {
    expect(await capstan(['login', url, '--key', 'bad'])).toMatchObject({ code: 2 });
    expect(() => statSync(file())).toThrow('ENOENT');
  });

  it('has lower precedence than the options, the environment and the folder', async () => {
    await capstan(['login', url, '--key', 'good', '--profile', 'prod']);
    const keyWith = async (args: string[], env: Record<string, string> = {}, cwd = home) => {
      seen = [];
      await capstan(['whoami', ...args], { env, cwd });
      return seen[0];
    };
    expect(await keyWith([])).toBe('Bearer good');
    expect(await keyWith([], { CAPSTAN_URL: url, CAPSTAN_API_KEY: 'env' })).toBe('Bearer env');
    expect(await keyWith(['--profile', 'prod'], { CAPSTAN_URL: url, CAPSTAN_API_KEY: 'env' })).toBe('Bearer good');
    expect(await keyWith(['--profile', 'prod', '--key', 'mine'])).toBe('Bearer mine');
    // To another gateway the key does not go.
    expect(await keyWith(['--url', url])).toBe('');
    const project = join(home, 'project');
    mkdirSync(join(project, '.capstan'), { recursive: true });
    writeFileSync(join(project, '.capstan', 'admin.key'), 'local');
    const port = new URL(url).port;
    expect(await keyWith([], { CAPSTAN_PORT: port }, project)).toBe('Bearer local');
    expect(await keyWith([], { CAPSTAN_PORT: port, CAPSTAN_PROFILE: 'prod' }, project)).toBe('Bearer good');
  });

  it('is deleted by logout, and an unknown profile is refused with the known ones', async () => {
    await capstan(['login', url, '--key', 'good', '--profile', 'one']);
    await capstan(['login', url, '--key', 'good', '--profile', 'two']);
    expect((await capstan(['profiles', 'use', 'one'])).stdout).toContain('●  one');
    await capstan(['login', url, '--key', 'good', '--profile', 'three']);
    expect((await capstan(['profiles', 'use', 'one'])).code).toBe(0);
    expect(await capstan(['logout', 'three', '--profile', 'two'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('two profiles'),
    });
    expect(await capstan(['logout', 'three'])).toMatchObject({ code: 0, stdout: expect.stringContaining('three') });
    expect((await capstan(['logout', '--profile', 'two'])).code).toBe(0);
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({
      current: 'one',
      profiles: { one: { url, key: 'good' } },
    });
    expect(await capstan(['whoami', '--profile', 'two'])).toEqual({
      code: 2,
      stdout: '',
      stderr: '✗ there is no profile two\n  → There are one; capstan login <url> --profile two makes it.\n',
    });
  });

  it('refuses a file that others may read', async () => {
    await capstan(['login', url, '--key', 'good']);
    chmodSync(file(), 0o644);
    expect(await capstan(['whoami'])).toMatchObject({ code: 2, stderr: expect.stringContaining('chmod 600') });
  });
});
