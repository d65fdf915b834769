import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_KEY, ALLOW_ALL, type System, startSystem } from './start-system.js';

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
  await system.admin.policies.put('default', ALLOW_ALL);
});

const get = (path: string, key = ADMIN_KEY, headers: Record<string, string> = {}) =>
  fetch(`${system.url}/v1/artifacts/${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
const leave = (script: string) =>
  system.admin.submit({ tool_id: 'shell.run', inputs: { cmd: ['sh', '-c', script] } }, { wait_s: 30 });

describe('a file that a run leaves', () => {
  test('is listed in the result and can be downloaded', async () => {
    const done = await leave('printf "a,b\\n" > $CAPSTAN_ARTIFACTS/"ü (1).csv"');
    expect(done).toMatchObject({ status: 'succeeded', result: { facts: { sandbox: expect.any(String) } } });
    const [artifact] = done.result?.artifacts ?? [];
    expect(artifact).toMatchObject({ name: 'ü (1).csv', media_type: 'text/csv', size: 4 });
    const response = await get(artifact?.sha256 ?? '');
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('a,b\n');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/csv',
      'content-length': '4',
      'content-disposition': "attachment; filename*=UTF-8''%C3%BC%20%281%29.csv",
      'x-content-type-options': 'nosniff',
    });
    const again = await get(artifact?.sha256 ?? '', ADMIN_KEY, { 'if-none-match': `"${artifact?.sha256}"` });
    expect(again.status).toBe(304);
  });

  test('is read whole by the client, and an unknown hash is a 404', async () => {
    const done = await leave('head -c 5000000 /dev/urandom > $CAPSTAN_ARTIFACTS/large.bin');
    const [artifact] = done.result?.artifacts ?? [];
    const sha256 = artifact?.sha256 ?? '';
    const content = await buffer(await system.admin.artifacts.read(sha256));
    expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
    await expect(system.admin.artifacts.read('0'.repeat(64))).rejects.toMatchObject({ status: 404 });
  });

  test('cannot be read by another tenant or without a valid key', async () => {
    const done = await leave('echo ours > $CAPSTAN_ARTIFACTS/ours');
    const hash = done.result?.artifacts[0]?.sha256 ?? '';
    const { key } = await system.admin.keys.create({ tenant: 'other', actor: 'them', roles: ['submit', 'audit'] });
    expect((await get(hash, key)).status).toBe(404);
    expect((await get(hash, 'cap_wrong')).status).toBe(401);
    for (const wrong of ['0'.repeat(64), 'x', '..%2f..%2fetc%2fpasswd']) expect((await get(wrong)).status).toBe(404);
  });
});

test('cap:sandbox:execute_code runs code in the sandbox', async () => {
  const inputs = { language: 'javascript', code: 'console.log(process.env.HOME === process.cwd())' };
  const done = await system.admin.submit({ tool_id: 'cap:sandbox:execute_code', inputs }, { wait_s: 30 });
  expect(done).toMatchObject({ status: 'succeeded', result: { payload: { stdout: 'true\n' } } });
});
