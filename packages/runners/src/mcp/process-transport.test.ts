import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Limits } from '@capstan/contracts';
import { openCgroups } from '@capstan/sandbox';
import { processesWith } from '@capstan/sandbox/testing';
import { describe, expect, test } from 'vitest';
import { keeper } from '../testing/keeper.js';
import { serve } from '../testing/serve.js';
import { createMcpRunner } from './create-mcp-runner.js';
import { callOf, FIXTURE, textOf, useTestMcp } from './testing/use-test-mcp.js';

const { servers, work_dir, run, change } = await useTestMcp();
const OPEN: Limits = { timeout_ms: 30_000, max_output_bytes: 1_000_000, deny_private_ips: false };
const cgroups = openCgroups();
cgroups?.close();

describe('a program', () => {
  test('runs in a sandbox, and the result names it', async () => {
    expect((await run('fixture', 'echo')).facts?.sandbox).toMatch(/bubblewrap|namespaces|process/);
  });

  test.skipIf(!cgroups)('is limited together with its child processes', async () => {
    const mark = `bounded-${process.pid}`;
    servers.set('bounded', { name: 'bounded', command: 'node', args: [FIXTURE, mark] });
    await run('bounded', 'echo');
    const pids = await processesWith(mark);
    const homes = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cgroup`, 'utf8')));
    expect(homes.length).toBeGreaterThan(0);
    for (const home of homes) expect(home).toMatch(/pids.*capstan-/);
  });

  test('sees its own variables and none of the worker', async () => {
    servers.set('with-env', { name: 'with-env', command: 'node', args: [FIXTURE], env: { GREETING: 'hello there' } });
    expect(textOf(await run('with-env', 'env', { value: 'GREETING' }))).toBe('hello there');
    const all = textOf(await run('with-env', 'environment'));
    expect(all).not.toContain('a-secret-of-the-worker');
  });

  test('gets secrets by reference, and they are redacted from its output', async () => {
    servers.set('secretive', {
      name: 'secretive',
      command: 'node',
      args: [FIXTURE],
      env: { API_TOKEN: 'secret://token', INLINE_TOKEN: 'inline-value-of-a-token' },
    });
    const secret = async () => 'tok-0123456789abcdef';
    expect(textOf(await run('secretive', 'env', { value: 'API_TOKEN' }, { secret }))).not.toContain(
      'tok-0123456789abcdef',
    );
    expect(textOf(await run('secretive', 'env', { value: 'INLINE_TOKEN' }, { secret }))).not.toContain('inline-value');
    await expect(run('secretive', 'echo')).rejects.toThrow('no secret token');
  });

  test('stores text files without its secrets', async () => {
    servers.set('leaking', {
      name: 'leaking',
      command: 'node',
      args: [FIXTURE],
      env: { API_TOKEN: 'secret://token', INLINE_TOKEN: 'inline-value-of-a-token' },
    });
    const secret = async () => 'tok-0123456789abcdef';
    const { kept, keep } = keeper();
    for (const value of ['API_TOKEN', 'INLINE_TOKEN']) await run('leaking', 'leak', { value }, { secret, keep });
    expect(kept).toHaveLength(2);
    for (const { name, bytes } of kept) {
      expect(name).toBe('resource-1.txt');
      expect(bytes.toString()).toMatch(/^it is /);
      expect(bytes.toString()).not.toMatch(/tok-0123456789abcdef|inline-value/);
    }
  });

  test('has no network, and with the permission only through the egress guard', async () => {
    const url = 'http://127.0.0.1:9/mcp';
    expect(textOf(await run('fixture', 'proxied', { value: url }))).toBe('there is no proxy');
    servers.set('online', { name: 'online', command: 'node', args: [FIXTURE], permissions: ['network'] });
    // Private addresses stay closed to it.
    expect(textOf(await run('online', 'proxied', { value: url }))).toMatch(/^403 .*127\.0\.0\.1/);
  });

  test('connects where the policy of the call allows it, and the result lists the hosts', async () => {
    servers.set('limited', { name: 'limited', command: 'node', args: [FIXTURE], permissions: ['network'] });
    const url = await serve((_, response) => response.end('reached'));
    const get = (limits: Partial<Limits>) =>
      run('limited', 'proxied', { value: url }, { limits: { ...OPEN, ...limits } });
    const reached = await get({});
    expect(textOf(reached)).toBe('200 reached');
    expect(reached.facts?.observed).toEqual({ domains: ['127.0.0.1'] });
    expect(textOf(await get({ network: ['127.0.0.1'] }))).toBe('200 reached');

    const elsewhere = await get({ network: ['example.com'] });
    expect(textOf(elsewhere)).toMatch(/^403 .*not among the domains/);
    expect(elsewhere.facts?.observed).toEqual({ domains: [] });
    expect(textOf(await get({ deny_domains: ['127.0.0.1'] }))).toMatch(/^403 .*deny_domains/);
    expect(textOf(await get({ network: 'none' }))).toBe('there is no proxy');
    expect(textOf(await get({ deny_private_ips: true }))).toMatch(/^403 /);
  });

  test('with a network is shared only between calls under the same rules', async () => {
    servers.set('ruled', { name: 'ruled', command: 'node', args: [FIXTURE], permissions: ['network'] });
    const read = async (server: string, limits: Partial<Limits>) =>
      textOf(await run(server, 'home', { value: 'file' }, { tenant: 'ruled', limits: { ...OPEN, ...limits } }));
    expect(await read('ruled', { network: ['example.com'] })).toBe('nothing');
    expect(await read('ruled', { network: ['example.org'] })).toBe('nothing');
    expect(await read('ruled', { network: ['example.com'] })).toBe('something');
    // One that never has a network is the same under all rules.
    expect(await read('fixture', { network: ['example.com'] })).toBe('nothing');
    expect(await read('fixture', { network: 'none' })).toBe('something');
  });

  test('finds its home again only with the permission', async () => {
    servers.set('homely', { name: 'homely', command: 'node', args: [FIXTURE], permissions: ['home'] });
    for (const [server, before] of [
      ['fixture', 'nothing'],
      ['homely', 'something'],
    ] as const) {
      const call = { tenant: `tenant-of-${server}` };
      expect(textOf(await run(server, 'home', { value: 'file' }, call))).toBe('nothing');
      await run(server, 'crash', {}, call);
      expect(textOf(await run(server, 'home', { value: 'file' }, call))).toBe(before);
    }
  });

  test('is not shared between tenants, but between calls of one tenant', async () => {
    const file = { value: 'shared' };
    const read = async (tenant: string) => textOf(await run('fixture', 'home', file, { tenant }));
    expect(await read('ann')).toBe('nothing');
    expect(await read('bob')).toBe('nothing');
    expect(await read('ann')).toBe('something');
  });

  test('stays when another server is added, and ends when its own is removed', async () => {
    const mark = `removed-${process.pid}`;
    servers.set('removed', { name: 'removed', command: 'node', args: [FIXTURE, mark] });
    const kept = textOf(await run('fixture', 'pid'));
    await run('removed', 'echo');
    servers.set('added', { name: 'added', command: 'node', args: [FIXTURE] });
    servers.delete('removed');
    change();
    await expect.poll(() => processesWith(mark)).toEqual([]);
    expect(textOf(await run('fixture', 'pid'))).toBe(kept);
    expect(textOf(await run('removed', 'echo'))).toContain('there is no MCP server removed');
  });

  test('that hangs is stopped after its call was stopped, and the next call gets another', async () => {
    const stop = new AbortController();
    servers.set('hanging', { name: 'hanging', command: 'node', args: [FIXTURE] });
    await run('hanging', 'echo');
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const hanging = run('hanging', 'hang', {}, { signal: stop.signal, log: () => begin() });
    await begun;
    stop.abort('timeout');
    await hanging;
    expect(textOf(await run('hanging', 'echo', { value: 'new' }))).toBe('new');
  });

  test('that is missing is reported with what to install', async () => {
    servers.set('absent', { name: 'absent', command: 'no-such-program' });
    expect(await run('absent', 'echo')).toMatchObject({ success: false, kind: 'EXECUTABLE_NOT_FOUND' });
  });

  test('that does not answer is reported as such, and one that would have to download first with what it lacks', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'capstan-npx-'));
    await chmod(folder, 0o755);
    const npx = join(folder, 'npx');
    await writeFile(npx, '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
    const ports = {
      server: async () => ({ config: { name: 'mute', command: npx }, allow_private: true }),
      stale: () => {},
      onChange: () => {},
    };
    const impatient = createMcpRunner({ work_dir, ports, env: { PATH: process.env.PATH }, start_ms: 500 });
    const error = textOf(await impatient.run(callOf('mute', 'echo')));
    await impatient.close?.();
    await rm(folder, { recursive: true });
    expect(error).toMatch(/did not answer the first message in time; npx downloads .* permission network/);
  });

  test('that is not an MCP server is reported with its output', async () => {
    servers.set('broken', { name: 'broken', command: 'sh', args: ['-c', 'echo cannot find the database >&2; exit 4'] });
    const outcome = await run('broken', 'echo');
    expect(outcome).toMatchObject({ success: false, kind: 'MCP_SERVER_FAILED', retryable: true });
    expect(outcome.success || outcome.error).toContain('cannot find the database');
  });
});
