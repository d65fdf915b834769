import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Runner } from '../../runner.js';
import { testCall, testDescriptor } from '../../testing/test-call.js';
import { createExecRunner } from '../create-exec-runner.js';
import { isShell } from './is-shell.js';

const asked = (file: string) => isShell({ file, real_file: `/usr/bin/${file.split('/').at(-1)}`, is_own: false });

describe('a shell is recognized', () => {
  test.each(['sh', '/bin/bash', 'dash', 'busybox', 'zsh', 'fish', 'pwsh'])('%s', (file) => {
    expect(asked(file)).toBe(true);
  });

  test('through a link with another name', () => {
    expect(isShell({ file: './tool', real_file: '/usr/bin/dash', is_own: true })).toBe(true);
  });

  test.each(['echo', 'node', 'shasum', 'git', 'env'])('%s is not a shell', (file) => {
    expect(asked(file)).toBe(false);
  });
});

describe('a script', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'scripts-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  const scriptWith = async (text: string) => {
    const file = join(directory, 'my-tool');
    await writeFile(file, text);
    await chmod(file, 0o755);
    return file;
  };

  test.each([
    ['#!/bin/sh\nid', true],
    ['#!/usr/bin/env -S bash -e\nid', true],
    ['id # without a first line', true],
    ['#!/usr/bin/python3\nprint(1)', false],
  ])('%j in the work directory is judged by its interpreter', async (text, is_shell) => {
    const real_file = await scriptWith(text);
    expect(isShell({ file: './my-tool', real_file, is_own: true })).toBe(is_shell);
    expect(isShell({ file: 'my-tool', real_file, is_own: false })).toBe(false);
  });
});

describe('the runner', () => {
  let work_dir: string;
  let runner: Runner;
  beforeAll(async () => {
    work_dir = await mkdtemp(join(tmpdir(), 'no-shell-'));
    runner = createExecRunner({ work_dir });
  });
  afterAll(async () => {
    await runner.close?.();
    await rm(work_dir, { recursive: true });
  });
  const SHELL_RUN = testDescriptor({ tool_id: 'shell.run', runner: 'exec', risk: 'LOW' });
  const limits = { timeout_ms: 10_000, max_output_bytes: 1000 };

  test('refuses a shell unless it is granted explicitly', async () => {
    const inputs = { cmd: ['sh', '-c', 'echo ran'] };
    const refused = { success: false, kind: 'SHELL_NOT_GRANTED', retryable: false };
    expect(await runner.run(testCall(SHELL_RUN, { inputs, limits }))).toMatchObject(refused);
    expect(await runner.run(testCall(SHELL_RUN, { inputs, limits: { ...limits, shell: false } }))).toMatchObject(
      refused,
    );
    expect(await runner.run(testCall(SHELL_RUN, { inputs, limits: { ...limits, shell: true } }))).toMatchObject({
      payload: { stdout: 'ran\n' },
    });
  });

  test('refuses code in shell as well, and accepts other languages', async () => {
    const descriptor = testDescriptor({ tool_id: 'cap:sandbox:execute_code', runner: 'exec', risk: 'LOW' });
    const run = (inputs: { code: string; language?: string }) => runner.run(testCall(descriptor, { inputs, limits }));
    expect(await run({ code: 'id', language: 'shell' })).toMatchObject({ kind: 'SHELL_NOT_GRANTED' });
    expect(await run({ code: 'console.log(6 * 7)' })).toMatchObject({ payload: { stdout: '42\n' } });
    expect(await run({ code: 'import os from "node:os"; console.log(await 1, typeof os.EOL)' })).toMatchObject({
      payload: { stdout: '1 string\n' },
    });
    expect(await run({ code: 'throw new Error("broken")' })).toMatchObject({ success: false, exit_code: 1 });
    expect(await run({ code: 'x', language: 'cobol' })).toMatchObject({ kind: 'INVALID_INPUTS' });
  });
});
