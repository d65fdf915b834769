import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeGateway } from './testing/fake-gateway.js';
import { PATIENTLY } from './testing/with-gateway.js';

/** Runs the built command as a process, to test signals, pipes and exit codes. */
const BIN = fileURLToPath(new URL('../bin/capstan.js', import.meta.url));

let gateway: Awaited<ReturnType<typeof startFakeGateway>>;
beforeAll(async () => {
  gateway = await startFakeGateway();
});
afterAll(() => gateway.close());

const start = (...args: string[]) =>
  spawn(process.execPath, [BIN, ...args], {
    env: { PATH: process.env.PATH, CAPSTAN_URL: gateway.url, CAPSTAN_API_KEY: 'good' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });

describe('the process', () => {
  it('prints the answer and ends with its exit code', async () => {
    const child = start('invoke', 'cap:test_math:add', '{"a":2,"b":3}');
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect({ stdout, code }).toEqual({ stdout: '5\n', code: 0 });
  });

  it('loads every command from the bundle', async () => {
    const child = start('--help');
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^ {2}mcp +Manage MCP servers/m);
  });

  it('ends without an error if its reader closes the pipe', async () => {
    const feed = start('submit', '-');
    feed.stdin.end('{"tool_id":"fake:text"}\n'.repeat(3_000));
    await once(feed, 'exit');
    const child = start('list', '-n', '3000', '--json');
    await once(child.stdout, 'readable');
    child.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  });

  it('ends at Ctrl-C with 130', async () => {
    const child = start('invoke', 'fake:never');
    await expect
      .poll(() => [...gateway.rows.values()].some(({ tool_id }) => tool_id === 'fake:never'), PATIENTLY)
      .toBe(true);
    child.kill('SIGINT');
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(code).toBe(130);
    expect(stderr).toContain('Stopped waiting');
  });
});
