import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import { afterEach, expect, test } from 'vitest';
import { type BrowserPool, createBrowserPool } from './create-browser-pool.js';
import { type LaunchedBrowser, launchBrowser } from './launch/launch-browser.js';

const started: LaunchedBrowser[] = [];
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  started.length = 0;
});

function poolWith(over: Partial<Parameters<typeof createBrowserPool>[0]> = {}): BrowserPool {
  const launch = async () => {
    const launched = await launchBrowser({ path: process.env.PATH });
    started.push(launched);
    return launched;
  };
  const pool = createBrowserPool({ launch, max_jobs: 100, max_memory_bytes: 1e12, idle_ms: 60_000, ...over });
  cleanups.push(pool.close);
  return pool;
}

test('concurrent calls share one browser, which stays warm', async () => {
  const pool = poolWith();
  const leases = await Promise.all([pool.lease(), pool.lease(), pool.lease()]);
  for (const lease of leases) await lease.release();
  await (await pool.lease()).release();
  expect(started).toHaveLength(1);
  expect(await started[0]?.memory()).toBeGreaterThan(1_000_000);
});

test('after its last job, or with too much memory, a browser is replaced once its running jobs have ended', async () => {
  const pool = poolWith({ max_jobs: 2, max_memory_bytes: 1e12 });
  const [first, second] = [await pool.lease(), await pool.lease()];
  const third = await pool.lease();
  expect(third.browser).not.toBe(first.browser);
  await first.release();
  expect(first.browser.isConnected()).toBe(true);
  await second.release();
  expect(first.browser.isConnected()).toBe(false);
  await third.release();

  const small = poolWith({ max_memory_bytes: 1 });
  const lease = await small.lease();
  await lease.release();
  expect(lease.browser.isConnected()).toBe(false);
});

test('a crashed or broken browser is replaced', async () => {
  const pool = poolWith();
  const lease = await pool.lease();
  await lease.release(true);
  expect(lease.browser.isConnected()).toBe(false);
  const next = await pool.lease();
  const gone = new Promise((resolve) => next.browser.once('disconnected', resolve));
  const session = await next.browser.newBrowserCDPSession();
  session.send('Browser.crash').catch(() => {});
  await gone;
  await next.release();
  const last = await pool.lease();
  expect(last.browser.isConnected()).toBe(true);
  await last.release();
  expect(started).toHaveLength(3);
});

test('closing leaves no process and no folder', async () => {
  const pool = poolWith();
  const before = leftovers();
  await pool.lease();
  expect(leftovers()).not.toEqual(before);
  await pool.close();
  await until(() => leftovers().every((one) => before.includes(one)));
});

test.skipIf(process.platform !== 'linux')(
  'a killed worker leaves no process and no folder, whatever the page does',
  async () => {
    const looping: Server = createServer((request, response) => {
      if (request.url === '/looping') server.emit('looping');
      response
        .setHeader('content-type', 'text/html')
        .end('<script>fetch("/looping").then(() => { for (;;); })</script>');
    }).listen(0, '127.0.0.1');
    const server = looping;
    await once(server, 'listening');
    cleanups.push(() => {
      server.close();
      server.closeAllConnections();
    });
    const before = leftovers();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const worker = execa(process.execPath, ['--input-type=module', '--eval', WORKER, url, process.env.PATH ?? ''], {
      cwd: import.meta.dirname,
      reject: false,
    });
    await once(server, 'looping');
    worker.kill('SIGKILL');
    await worker;
    await until(() => leftovers().every((one) => before.includes(one)));
  },
);

const WORKER = `
const { createBrowserRunner } = await import('@capstan/runners');
const runner = createBrowserRunner({ path: process.argv[2] });
const limits = { timeout_ms: 60000, max_output_bytes: 1000, deny_private_ips: false };
const descriptor = { tool_id: 'browser.navigate', binding: { kind: 'native' }, effects: {} };
const heard = { log: () => {}, redact: { text: (text) => text } };
const { signal } = new AbortController();
await runner.run({ ...heard, descriptor, limits, inputs: { url: process.argv[1] }, signal });
`;

/** Processes and folders that browsers of ours leave while they run. */
function leftovers(): string[] {
  const folders = readdirSync(tmpdir()).filter((name) => /^(capstan-browser-|playwright)/.test(name));
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => /capstan-chromium|capstan-browser/.test(commandLine(pid)));
  return [...folders, ...processes];
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(20);
}
