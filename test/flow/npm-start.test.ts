import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { findRepository } from '../fixtures/find-repository.js';
import { startLineProcess } from '../fixtures/start-line-process.js';
import { tempDir } from '../fixtures/temp-dir.js';

async function npmStart() {
  const npm = await startLineProcess({
    command: ['npm', 'start'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      DATABASE_URL: (await createTestDatabase()).url,
      CAPSTAN_DATA_DIR: await tempDir(),
      CAPSTAN_PORT: '0',
    },
    cwd: fileURLToPath(findRepository()),
  });
  atEnd(async () => {
    npm.killGroup('SIGKILL');
    await npm.exited;
  });
  const [, url = ''] = await npm.waitForLine(/is up at (\S+)/);
  return { npm, url };
}

describe('npm start', () => {
  test.each([
    ['SIGTERM to npm alone', 'kill', 'SIGTERM'],
    ['SIGINT to all of its processes, as Ctrl-C sends it', 'killGroup', 'SIGINT'],
  ] as const)('drains and stops Capstan on %s', async (_, send, signal) => {
    const { npm, url } = await npmStart();
    npm[send](signal);
    await npm.waitForLine(/Stopping/);
    expect(await npm.exited).toEqual({ code: 0, signal: null });
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });
});
