import { describe, expect, test, vi } from 'vitest';
import { FIXTURE, textOf, useTestMcp } from './testing/use-test-mcp.js';

const { servers, run, change } = await useTestMcp();

describe('a program', () => {
  test('runs in a sandbox, and the result names it', async () => {
    expect((await run('fixture', 'echo')).facts?.sandbox).toMatch(/bubblewrap|namespaces|process/);
  });

  test('sees its own variables and none of the worker', async () => {
    servers.set('with-env', { name: 'with-env', command: 'node', args: [FIXTURE], env: { GREETING: 'hello there' } });
    expect(textOf(await run('with-env', 'env', { value: 'GREETING' }))).toBe('hello there');
    const all = textOf(await run('with-env', 'environment'));
    expect(all).not.toContain('a-secret-of-the-worker');
  });

  test('gets secrets by reference, and what it says of them is redacted', async () => {
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

  test('has no network, and with the permission the guard between itself and the rest', async () => {
    const url = 'http://127.0.0.1:9/mcp';
    expect(textOf(await run('fixture', 'proxied', { value: url }))).toBe('there is no proxy');
    servers.set('online', { name: 'online', command: 'node', args: [FIXTURE], permissions: ['network'] });
    // Private addresses stay closed to it.
    expect(textOf(await run('online', 'proxied', { value: url }))).toMatch(/^403 .*127\.0\.0\.1/);
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

  test('is not shared between tenants, and is between the calls of one', async () => {
    const file = { value: 'shared' };
    const read = async (tenant: string) => textOf(await run('fixture', 'home', file, { tenant }));
    expect(await read('ann')).toBe('nothing');
    expect(await read('bob')).toBe('nothing');
    expect(await read('ann')).toBe('something');
    // Nobody uses it at the moment: when the servers change, it goes.
    change();
    expect(await read('ann')).toBe('nothing');
  });

  test('that hangs is ended after its call was stopped, and the next call gets another', async () => {
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
    await vi.waitFor(
      async () =>
        expect(textOf(await run('hanging', 'echo', { value: 'new' }, { signal: AbortSignal.timeout(1500) }))).toBe(
          'new',
        ),
      { timeout: 10_000 },
    );
  });

  test('that is missing is named, with what to install', async () => {
    servers.set('absent', { name: 'absent', command: 'no-such-program' });
    expect(await run('absent', 'echo')).toMatchObject({ success: false, kind: 'EXECUTABLE_NOT_FOUND' });
  });

  test('that is no server is shown with what it said', async () => {
    servers.set('broken', { name: 'broken', command: 'sh', args: ['-c', 'echo cannot find the database >&2; exit 4'] });
    const outcome = await run('broken', 'echo');
    expect(outcome).toMatchObject({ success: false, kind: 'MCP_SERVER_FAILED', retryable: true });
    expect(outcome.success || outcome.error).toContain('cannot find the database');
  });
});
