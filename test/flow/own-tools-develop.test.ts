import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, Held, serveTools, startTestCapstan, type TestCapstan, tool } from '@capstan/client';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { findRepository } from '../fixtures/find-repository.js';
import { spawnCapstan } from '../fixtures/spawn-capstan.js';
import { type LineProcess, startLineProcess } from '../fixtures/start-line-process.js';
import { tempDir } from '../fixtures/temp-dir.js';

const inRepository = (path: string) => fileURLToPath(new URL(path, findRepository()));
const KEY = 'a-key-of-the-tests';

/** The folder that `capstan init` makes, with its dependencies installed. */
let folder = '';
beforeAll(async () => {
  const cwd = await tempDir();
  const made = await spawnCapstan(['init', 'shop'], {}, { cwd });
  expect((await made.exited).code, made.stderr.join('\n')).toBe(0);
  folder = join(cwd, 'shop');
  await symlink(inRepository('node_modules'), join(folder, 'node_modules'));
});

const node = (...args: string[]): Promise<LineProcess> =>
  startLineProcess({
    command: [process.execPath, ...args],
    env: { PATH: process.env.PATH ?? '' },
    cwd: folder,
  });
const succeeded = async (running: LineProcess): Promise<void> => {
  expect((await running.exited).code, [...running.stdout, ...running.stderr].join('\n')).toBe(0);
};

test('the folder that capstan init makes passes its own test', async () => {
  const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { scripts: { test: string } };
  const tested = await node(...scripts.test.split(' ').slice(1));
  await succeeded(tested);
  expect(tested.stdout.join('\n')).toMatch(/pass 2/);
});

test('capstan dev serves a file under the policy beside it, and reloads it and its generated types after an edit', async () => {
  const { url: DATABASE_URL } = await createTestDatabase();
  const dev = await spawnCapstan(
    ['dev', 'tools.ts'],
    { DATABASE_URL, CAPSTAN_PORT: '0', CAPSTAN_API_KEY: KEY },
    { cwd: folder },
  );
  const [, url = ''] = await dev.waitForLine(/is up at (\S+)/);
  await dev.waitForLine(/Serving app:shop:refund$/);
  const client = createClient({ url, key: KEY });
  onTestFinished(() => client.close());
  expect(await client.call('app:shop:refund', { order: 'A-17', amount: 20 })).toMatchObject({
    refund_id: expect.stringMatching(/^re_/),
  });
  await expect(client.call('app:shop:refund', { order: 'A-17', amount: 200 })).rejects.toBeInstanceOf(Held);

  const file = join(folder, 'tools.ts');
  const text = await readFile(file, 'utf8');
  const greet = `export const greet = tool({ id: 'greet', description: 'Greets', input: z.object({ name: z.string() }),
    output: z.string(), risk: 'LOW', side_effects: [], run: ({ name }) => \`Hello, \${name}\` });\n`;
  // Twice, as editors save: the new file takes the place of the old one.
  const save = async (content: string) => {
    await writeFile(join(folder, 'saving'), content);
    await rename(join(folder, 'saving'), file);
  };
  await save(text);
  await expect.poll(() => dev.stderr.filter((line) => line === 'Serving app:shop:refund')).toHaveLength(2);
  await save(`${text.replace('re_', 'paid_')}\n${greet}`);
  await dev.waitForLine(/Serving .*app:shop:greet/);
  expect(await client.call('app:shop:refund', { order: 'A-17', amount: 20 })).toMatchObject({
    refund_id: expect.stringMatching(/^paid_/),
  });

  const types = await spawnCapstan(['types'], { CAPSTAN_URL: url, CAPSTAN_API_KEY: KEY });
  await succeeded(types);
  await writeFile(join(folder, 'capstan-tools.d.ts'), types.stdout.join('\n'));
  await writeFile(join(folder, 'caller.ts'), CALLER);
  const compiled = await node(inRepository('node_modules/typescript/bin/tsc'), '--project', '.');
  await succeeded(compiled);

  dev.kill('SIGINT');
  await dev.exited;
  expect(dev.stderr.filter((line) => line.includes('Cannot reach'))).toEqual([]);
});

/** `@ts-expect-error` fails the compilation where the expected error is missing. */
const CALLER = `import { createClient } from '@capstan/client';
import type { Tools } from './capstan-tools.d.ts';

const capstan = createClient<Tools>();
const { refund_id } = await capstan.call('app:shop:refund', { order: 'A-17', amount: 20 });
refund_id satisfies string;
(await capstan.call('cap:test_math:add', { a: 1, b: 2 })) satisfies unknown;
// @ts-expect-error there is no such tool
await capstan.call('app:shop:pay', {});
// @ts-expect-error the amount is a number
await capstan.call('app:shop:refund', { order: 'A-17', amount: '20' });
// @ts-expect-error there is no amount
await capstan.call('app:shop:refund', { order: 'A-17' });
// @ts-expect-error the payload has no such field
(await capstan.call('app:shop:refund', { order: 'A-17', amount: 20 })).paid;
`;

describe('a Capstan that startTestCapstan has started', () => {
  let capstan: TestCapstan;
  beforeAll(async () => {
    // Those of the program under test, which must stay untouched.
    vi.stubEnv('DATABASE_URL', 'postgres://nobody@127.0.0.1:1/production');
    vi.stubEnv('CAPSTAN_LEASE_MS', 'not a number');
    const { url: DATABASE_URL } = await createTestDatabase();
    const command = [process.execPath, inRepository('packages/cli/bin/capstan.js')];
    capstan = await startTestCapstan({ command, env: { DATABASE_URL } });
    vi.unstubAllEnvs();
  });

  test('serves the tools of a file that calls serveTools itself, in a folder that does not say which modules it has', async () => {
    const cwd = join(folder, 'plain');
    await mkdir(cwd);
    await writeFile(join(cwd, 'package.json'), '{}');
    await writeFile(join(cwd, 'billing.ts'), BILLING);
    const env = { CAPSTAN_URL: capstan.url, CAPSTAN_API_KEY: capstan.key };
    const served = await spawnCapstan(['serve', 'billing.ts'], env, { cwd });
    await served.waitForLine(/Serving app:billing:refund$/);
    const refunded = await capstan.client.call('app:billing:refund', { order: 'A-17', amount: 20 });
    expect(refunded).toEqual({ refund_id: 're_A-17' });
    served.kill('SIGTERM');
    await succeeded(served);
  });

  test('has records of the calls of own tools, and is gone once it is stopped', async () => {
    const double = tool({
      id: 'double',
      description: 'Doubles a number',
      input: z.object({ n: z.number() }),
      output: z.number(),
      risk: 'LOW',
      side_effects: [],
      run: ({ n }) => 2 * n,
    });
    const { url, key, client } = capstan;
    const worker = await serveTools({ url, key, pool: 'sums', tools: [double] });
    const done = await client.submit({ tool_id: 'app:sums:double', inputs: { n: 21 } }, { wait_s: 30 });
    expect(done).toMatchObject({ status: 'succeeded', result: { payload: 42 } });
    await expect.poll(() => client.records.verify(done.run_id ?? '')).toMatchObject({ ok: true });
    await worker.stop();
    await capstan.stop();
    await expect(fetch(url)).rejects.toThrow();
  });
});

/** As in the guide: nothing is exported. */
const BILLING = `import { serveTools, tool } from '@capstan/client';
import { z } from 'zod';

const refund = tool({
  id: 'refund',
  description: 'Pay money back to a customer',
  input: z.object({ order: z.string(), amount: z.number().positive() }),
  output: z.object({ refund_id: z.string() }),
  risk: 'MED',
  side_effects: ['payments'],
  run: ({ order }) => ({ refund_id: \`re_\${order}\` }),
});

const worker = await serveTools({ pool: 'billing', tools: [refund], concurrency: 20 });
process.on('SIGTERM', () => worker.stop());
`;

test.each([
  ["import 'strype';", /Cannot find package 'strype'.*Run `npm install strype`/],
  ['const tools = [;', /broken\.ts:1:15: ERROR: Unexpected ";"/],
  ["\nthrow new Error('no database');", /no database.*thrown at \/\S+broken\.ts:2:7/],
])('capstan serve says what is wrong with a file that it cannot load: %j', async (content, problem) => {
  await writeFile(join(folder, 'broken.ts'), content);
  const served = await spawnCapstan(['serve', 'broken.ts'], { CAPSTAN_URL: 'http://127.0.0.1:1' }, { cwd: folder });
  expect((await served.exited).code).toBe(2);
  expect(served.stderr.join(' ')).toMatch(problem);
});

test('startTestCapstan says why Capstan did not start', async () => {
  const command = [process.execPath, '-e', 'console.error("no room left"); process.exit(3)'];
  await expect(startTestCapstan({ command })).rejects.toThrow(/it ended \(3\)[\s\S]*no room left/);
});
