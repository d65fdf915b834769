import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { startFakeGateway } from './fake-gateway.js';
import { type RunOptions, run } from './run-in-test.js';

/** A signal is waited for, however slow the machine is. */
export const PATIENTLY = { timeout: 20_000, interval: 20 };

/** A fresh fake gateway and an empty folder for each test, and the command run against them. */
export const withGateway = () => {
  let gateway: Awaited<ReturnType<typeof startFakeGateway>>;
  let folder = '';
  beforeEach(async () => {
    gateway = await startFakeGateway();
    folder = mkdtempSync(join(tmpdir(), 'capstan-cli-'));
  });
  afterEach(async () => {
    await gateway.close();
    rmSync(folder, { recursive: true });
  });
  const capstan = (args: readonly string[], options: RunOptions = {}) =>
    run(args, {
      cwd: folder,
      ...options,
      env: { CAPSTAN_URL: gateway.url, CAPSTAN_API_KEY: 'good', ...options.env },
    });
  return {
    gateway: () => gateway,
    folder: () => folder,
    capstan,
    invoke: (tool_id: string, ...more: string[]) => capstan(['invoke', tool_id, ...more]),
  };
};
