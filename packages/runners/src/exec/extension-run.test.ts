import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Binding, Descriptor, JsonObject, Limits } from '@capstan/contracts';
import { createEgress } from '@capstan/egress';
import { createRedactor } from '@capstan/redact';
import { worksHere } from '@capstan/sandbox/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Call, KeptFile, Runner, RunOutcome } from '../runner.js';
import { testCall, testDescriptor } from '../testing/test-call.js';
import { createExecRunner } from './create-exec-runner.js';

type CommandBinding = Extract<Binding, { kind: 'command' }>;

const { works, name } = worksHere('namespaces');
const LIMITS: Limits = { timeout_ms: 20_000, max_output_bytes: 100_000 };
const SECRET = 'hunter2-of-the-tenant';

let directory: string;
let runner: Runner;
let onFetch = () => {};
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'extension-run-'));
  // So that a user without rights gets through, and sessions stay inside of it.
  await chmod(directory, 0o711);
  const tools = join(directory, 'tools');
  await mkdir(tools);
  await writeFile(join(tools, 'greet'), '#!/bin/sh\necho "hello $1"; cat; pwd >&2\n');
  await writeFile(join(tools, 'leave'), '#!/bin/sh\ncat > "$1" && ls\n');
  for (const each of ['greet', 'leave']) await chmod(join(tools, each), 0o755);
  runner = createExecRunner({
    work_dir: join(directory, 'work'),
    env: { PATH: '/usr/bin:/bin', TOKEN_OF_WORKER: SECRET, DATABASE_URL: SECRET },
    extension_tools: async (hash) => {
      expect(hash).toBe('sha256:tools');
      onFetch();
      return tools;
    },
    egress: createEgress(),
  });
});
afterAll(async () => {
  await runner.close?.();
  await rm(directory, { recursive: true });
});

const extension = (binding: Partial<CommandBinding>, over: Partial<Descriptor> = {}): Descriptor =>
  testDescriptor({
    tool_id: 'ext:text.tools:one',
    source: 'extension',
    runner: 'exec',
    binding: {
      kind: 'command',
      extension_id: 'text.tools',
      tools_hash: 'sha256:tools',
      executable: 'greet',
      action: 'one',
      argv: ['{{who}}'],
      output: 'text',
      env: [],
      permissions: ['exec'],
      ...binding,
    },
    ...over,
  });
const run = (descriptor: Descriptor, inputs: JsonObject, over: Partial<Call> = {}) =>
  runner.run(testCall(descriptor, { inputs, limits: LIMITS, ...over }));
const payloadOf = (outcome: RunOutcome) => JSON.parse(JSON.stringify(outcome)).payload;

describe.skipIf(!works)(`a command of an extension, in ${name}`, () => {
  test('runs its own executable first, with its inputs as arguments and stdin', async () => {
    const outcome = await run(extension({ stdin: '{{text}}' }), { who: '$(id)', text: 'body' });
    expect(outcome).toMatchObject({ success: true, payload: { stdout: 'hello $(id)\nbody' } });
  });

  test('returns lines or JSON if it declares them', async () => {
    expect(await run(extension({ output: 'lines', executable: 'printf', argv: ['a\\nb\\n'] }), {})).toMatchObject({
      payload: { stdout: 'a\nb\n', lines: ['a', 'b'] },
    });
    expect(await run(extension({ output: 'json', executable: 'echo', argv: ['{"a":[1]}'] }), {})).toMatchObject({
      payload: { json: { a: [1] } },
    });
    expect(await run(extension({ output: 'json', executable: 'echo', argv: ['{a'] }), {})).toMatchObject({
      success: false,
      kind: 'TOOL_ERROR',
      payload: { stdout: '{a\n' },
    });
  });

  test.each([false, true])(
    'that is stopped while its executables are fetched ends at once, terminal: %s',
    async (tty) => {
      const controller = new AbortController();
      onFetch = () => controller.abort();
      const endless = extension({ executable: 'sleep', argv: ['600'] });
      expect(await run(endless, { tty }, { signal: controller.signal })).toMatchObject({ success: false });
      onFetch = () => {};
    },
  );

  test('writes only where its extension may', async () => {
    const leave = { executable: 'leave', argv: ['{{file}}'], stdin: 'kept' };
    expect(await run(extension(leave), { file: 'a' })).toMatchObject({ success: false, exit_code: 2 });
    const writing = extension({ ...leave, permissions: ['exec', 'filesystem.write'] });
    expect(payloadOf(await run(writing, { file: 'a' })).stdout).toBe('a\nartifacts\n');
  });

  test('finds its files again in the same session, and other sessions do not', async () => {
    const writing = extension({
      executable: 'leave',
      argv: ['{{file}}'],
      stdin: 'kept',
      permissions: ['exec', 'filesystem.write'],
    });
    const files = async (file: string, over: Partial<Call>) => payloadOf(await run(writing, { file }, over)).stdout;
    expect(await files('a', { session_id: 'ses_1' })).toBe('a\nartifacts\n');
    expect(await files('b', { session_id: 'ses_1' })).toBe('a\nartifacts\nb\n');
    expect(await files('c', { session_id: '../ses_1' })).toBe('artifacts\nc\n');
    expect(await files('c', { session_id: 'ses_1', tenant: 'other' })).toBe('artifacts\nc\n');
    // Only the files that this run wrote are observed.
    const { facts } = await run(writing, { file: 'd' }, { session_id: 'ses_1' });
    expect(facts?.observed?.files_written).toEqual(['d']);
  });

  test('sees a variable of the worker only if it asks for it and the policy allows it', async () => {
    const names = ['TOKEN_OF_WORKER', 'DATABASE_URL'];
    const printing = (env: string[]) => extension({ executable: 'env', argv: [], env });
    const seen = async (env: string[], allowed: string[]) =>
      payloadOf(await run(printing(env), {}, { limits: { ...LIMITS, env: allowed } })).stdout;
    expect(await seen(names, [])).not.toContain(SECRET);
    expect(await seen([], names)).not.toContain(SECRET);
    expect(await seen(names, names)).toContain(`TOKEN_OF_WORKER=${SECRET}`);
    expect(await seen(names, names)).not.toContain('DATABASE_URL');
  });
});

describe.skipIf(!works)(`secrets, in ${name}`, () => {
  const SHELL_RUN = testDescriptor({ tool_id: 'shell.run', runner: 'exec', risk: 'HIGH' });
  const secrets = { secret: async (reference: string) => `${SECRET}/${reference}` };

  test('are passed in the environment and stdin, and never on a command line', async () => {
    const limits = { ...LIMITS, shell: true };
    const script = 'echo $TOKEN; cat; cat /proc/[0-9]*/cmdline | grep -ac "hunter[2]"';
    const inputs = { cmd: ['sh', '-c', script], env: { TOKEN: 'secret://git/token' }, stdin: 'secret://other' };
    expect(await run(SHELL_RUN, inputs, { ...secrets, limits })).toMatchObject({
      payload: { stdout: `${SECRET}/git/token\n${SECRET}/other0\n` },
    });
    const printing = extension({ executable: 'env', argv: [], env: ['KEY=secret://key'] });
    const allowed = { ...LIMITS, env: ['KEY'] };
    expect(payloadOf(await run(printing, {}, { ...secrets, limits: allowed })).stdout).toContain(`KEY=${SECRET}/key\n`);
    expect(payloadOf(await run(printing, {}, secrets)).stdout).not.toContain('KEY=');
  });
});

describe.skipIf(!works)(`artifacts, in ${name}`, () => {
  const SHELL_RUN = testDescriptor({ tool_id: 'shell.run', runner: 'exec', risk: 'HIGH' });

  test('are the files left in their folder, without links, FIFOs and secrets', async () => {
    const kept = new Map<string, string>();
    const keep = async ({ name: file, media_type, content }: KeptFile) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of content instanceof Uint8Array ? [content] : content) chunks.push(chunk);
      kept.set(file, Buffer.concat(chunks).toString('latin1'));
      return { sha256: 'a'.repeat(64), name: file, media_type, size: 1 };
    };
    const script = `cd $CAPSTAN_ARTIFACTS; echo "key: ${SECRET}" > a.txt; mkdir -p deep/er; printf '\\377\\000x' > deep/er/b.png
      ln -s /etc/passwd link; ln -s /etc up; ln a.txt second; rm a.txt; mv second a.txt; mkfifo fifo; echo no > ../outside`;
    const outcome = await run(
      SHELL_RUN,
      { cmd: ['sh', '-c', script] },
      { keep, limits: { ...LIMITS, shell: true }, redact: createRedactor({ values: [SECRET] }) },
    );
    expect(outcome).toMatchObject({
      success: true,
      artifacts: [
        { name: 'a.txt', media_type: 'text/plain' },
        { name: 'deep/er/b.png', media_type: 'image/png' },
      ],
    });
    expect(Object.fromEntries(kept)).toEqual({ 'a.txt': 'key: [REDACTED]\n', 'deep/er/b.png': '\xff\0x' });
  });
});

describe.skipIf(!works)(`interactive tools, in ${name}`, () => {
  test('are refused without a terminal', async () => {
    const effects = { ...extension({}).effects, interactive: true };
    const asking = testDescriptor({ tool_id: 'shell.run', runner: 'exec', risk: 'LOW', effects });
    const inputs = { cmd: ['node', '-p', 'process.stdin.isTTY && process.stdout.isTTY'] };
    const limits = { ...LIMITS, shell: true };
    expect(await run(asking, inputs, { limits })).toMatchObject({
      kind: 'INTERACTIVE_NOT_SUPPORTED',
      retryable: false,
    });
    expect(await run(asking, { ...inputs, tty: true }, { limits })).toMatchObject({
      success: true,
      payload: { stdout: expect.stringContaining('true'), stderr: '' },
    });
  });

  test('read their answers in a terminal', async () => {
    const asking = testDescriptor({
      tool_id: 'atip:cat:.',
      runner: 'exec',
      binding: { kind: 'atip', executable: 'cat', path: [], parameters: [] },
      effects: { ...extension({}).effects, interactive: true },
    });
    expect(await run(asking, { stdin: 'yes' })).toMatchObject({ kind: 'INTERACTIVE_NOT_SUPPORTED' });
    expect(payloadOf(await run(asking, { stdin: 'yes', tty: true })).stdout).toBe('yes\r\nyes\r\n');
  });
});

describe.skipIf(!works)(`network by domain, in ${name}`, () => {
  const SHELL_RUN = testDescriptor({ tool_id: 'shell.run', runner: 'exec', risk: 'HIGH' });

  test('reaches the hosts that the policy names and no others', async () => {
    const server = createServer((_, response) => response.end('reached'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const fetching = (host: string, limits: Partial<Limits>) =>
      run(
        SHELL_RUN,
        { cmd: ['curl', '-sS', '-m', '5', `http://${host}:${port}/`] },
        { limits: { ...LIMITS, deny_private_ips: false, ...limits } },
      );
    expect(await fetching('localhost', { network: ['localhost'] })).toMatchObject({
      success: true,
      payload: { stdout: 'reached' },
      facts: { observed: { domains: ['localhost'] } },
    });
    expect(payloadOf(await fetching('127.0.0.1', { network: ['localhost'] })).stdout).not.toBe('reached');
    expect(await fetching('localhost', { network: 'none' })).toMatchObject({ success: false });
    expect(await fetching('localhost', {})).toMatchObject({ success: false });
    expect(payloadOf(await fetching('localhost', { network: ['localhost'], deny_private_ips: true })).stdout).not.toBe(
      'reached',
    );
    server.close();
  });
});
