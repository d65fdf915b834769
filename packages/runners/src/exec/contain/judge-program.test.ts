import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Descriptor, Executables, JsonObject, Limits } from '@capstan/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Runner } from '../../runner.js';
import { testCall, testDescriptor } from '../../testing/test-call.js';
import { createExecRunner } from '../create-exec-runner.js';
import type { CommandBinding } from '../prepare/command/argument-text.js';

let directory: string;
let runner: Runner;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'judge-program-'));
  await chmod(directory, 0o711);
  await mkdir(join(directory, 'tools'));
  await writeFile(join(directory, 'tools', 'xargs'), '#!/bin/sh\necho "its own $1"\n');
  await chmod(join(directory, 'tools', 'xargs'), 0o755);
  runner = createExecRunner({
    work_dir: join(directory, 'work'),
    env: { PATH: '/usr/bin:/bin' },
    extension_tools: async () => join(directory, 'tools'),
  });
});
afterAll(async () => {
  await runner.close?.();
  await rm(directory, { recursive: true });
});

const LIMITS: Limits = { timeout_ms: 10_000, max_output_bytes: 10_000, sandbox: 'preferred' };
const command = (binding: Partial<CommandBinding>): Descriptor =>
  testDescriptor({
    tool_id: 'ext:x:one',
    source: 'extension',
    runner: 'exec',
    binding: {
      ...{ kind: 'command', extension_id: 'x', tools_hash: null, executable: 'git', action: 'one', argv: null },
      ...{ output: 'text', env: [], permissions: ['exec', 'filesystem.write'] },
      ...binding,
    },
  });
const run = (descriptor: Descriptor, inputs: JsonObject, limits: Partial<Limits> = {}) =>
  runner.run(testCall(descriptor, { inputs, limits: { ...LIMITS, ...limits } }));
const REFUSED = { success: false, kind: 'ARGUMENTS_NOT_ALLOWED', retryable: false };

describe('a tool whose program can start others', () => {
  test.each<[Partial<CommandBinding>, JsonObject, string?]>([
    [{ action: 'log' }, { flags: { 'ext-d': true } }],
    [{ action: 'fetch' }, { flags: { 'upload-p': 'touch x' } }],
    [{ action: 'status' }, { flags: { c: 'core.pager=id' } }],
    [{ argv: ['clone', '{{url}}'] }, { url: 'ext::sh -c id' }],
    [{ executable: 'tar', argv: ['-xf', '{{file}}'] }, { file: 'host:archive' }],
    [{ executable: 'find', argv: ['{{...all}}'] }, { all: ['.', '(', '-exec', 'id', ';'] }, 'INVALID_INPUTS'],
    [{ executable: 'python3', argv: ['{{script}}'] }, { script: 'x.py' }],
    [{ executable: 'make', argv: ['{{target}}'] }, { target: 'x' }],
  ])('%j is not given %j', async (binding, inputs, kind = 'ARGUMENTS_NOT_ALLOWED') => {
    expect(await run(command(binding), inputs)).toMatchObject({ ...REFUSED, kind });
  });

  test('is refused with the entry to add, and that entry is sufficient', async () => {
    const init = command({ action: 'init' });
    const refused = await run(init, { flags: { q: true } });
    expect(refused).toMatchObject(REFUSED);
    const text = 'error' in refused ? refused.error : '';
    const added: { tools: Record<string, { executables: Executables }> } = JSON.parse(text.slice(text.indexOf('{')));
    const executables = [added.tools['ext:x:one']?.executables ?? {}];
    expect(await run(init, { flags: { q: true } }, { executables })).toMatchObject({ success: true });
    expect(await run(init, { flags: { template: 'x' } }, { executables })).toMatchObject(REFUSED);
  });

  test('runs with arguments of its author, and with the extension’s own program of that name', async () => {
    const literal = command({ executable: 'env', argv: ['printf', '%s', 'fixed'] });
    expect(await run(literal, {})).toMatchObject({ payload: { stdout: 'fixed' } });
    const code = command({ executable: 'node', argv: ['-e', 'console.log(process.argv[1])', '{{value}}'] });
    expect(await run(code, { value: 'a value' })).toMatchObject({ payload: { stdout: 'a value\n' } });
    const own = command({ executable: 'xargs', tools_hash: 'sha256:x', argv: ['{{value}}'] });
    expect(await run(own, { value: 'v' })).toMatchObject({ payload: { stdout: 'its own v\n' } });
  });
});

test('shell.run is checked again before it starts, by the same lists', async () => {
  const shell = testDescriptor({ tool_id: 'shell.run', runner: 'exec' });
  expect(await run(shell, { cmd: ['git', 'init', '-q'] })).toMatchObject(REFUSED);
  const executables: Executables[] = [{ git: { profiles: ['write'] } }, { git: { profiles: ['read'] } }];
  expect(await run(shell, { cmd: ['git', 'init', '-q'] }, { executables: executables.slice(0, 1) })).toMatchObject({
    success: true,
  });
  expect(await run(shell, { cmd: ['git', 'init', '-q'] }, { executables })).toMatchObject(REFUSED);
  expect(await run(shell, { cmd: ['sort'], env: { TAR_OPTIONS: 'secret://x' } })).toMatchObject({
    kind: 'INVALID_INPUTS',
  });
});

test.each([
  [['awk', 'BEGIN { system("echo started"); print 6 * 7 }'], '42\n'],
  [['sed', '-n', '1e echo started', '/etc/passwd'], ''],
])('%j runs where the kernel keeps it from starting others, and else not at all', async (cmd, stdout) => {
  const outcome = await run(testDescriptor({ tool_id: 'shell.run', runner: 'exec' }), { cmd });
  expect(JSON.stringify(outcome)).not.toContain('started');
  if ('kind' in outcome && outcome.kind === 'SANDBOX_UNAVAILABLE') expect(outcome.error).toContain('exec_once');
  else
    expect(outcome).toMatchObject({ payload: { stdout }, facts: { sandbox: expect.stringMatching(/\+exec_once$/) } });
});
