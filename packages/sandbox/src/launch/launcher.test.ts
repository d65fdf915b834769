import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createBareProcess } from '../bare-process.js';
import { DEFAULT_LIMITS } from '../resource-limits.js';
import type { Sandbox } from '../sandbox.js';
import { processesWith } from '../testing/processes-with.js';
import { Launcher } from './launcher.js';
import type { OrphanGuard } from './orphan-guard.js';
import { Stopper } from './signal-run.js';

const guard: OrphanGuard = { start: () => {}, watch: () => {}, release: () => {}, close: async () => {} };
const once = createBareProcess({ prlimit: null, inits: null, identity: null });
const often: Sandbox = { ...once, holds: 'namespace' };
const limits = { ...DEFAULT_LIMITS, cpu_seconds: 60 };

const directory = mkdtempSync(join(tmpdir(), 'launcher-'));
afterAll(() => rm(directory, { recursive: true }));
let launcher: Launcher;
beforeEach(() => {
  launcher = new Launcher({ guard, cgroups: null, pipes: directory });
});
afterEach(() => launcher.close());

const start = (file: string, args: string[], { stdin, env = {}, sandbox = often, tenant = 'acme' }: Over = {}) => {
  const said = { stdout: '', stderr: '' };
  const launch = { file, args, env, cwd: '/' };
  const run = launcher.run(
    { launch, stdin, sandbox, limits, tenant, tty: false },
    {
      stdout: (chunk) => {
        said.stdout += Buffer.from(chunk).toString('latin1');
      },
      stderr: (chunk) => {
        said.stderr += Buffer.from(chunk).toString('latin1');
      },
    },
  );
  return { ...run, said, ending: run.ended.then(({ ending }) => ending) };
};
type Over = { stdin?: string; env?: Record<string, string>; sandbox?: Sandbox; tenant?: string };

const EVERY_CHARACTER = Array.from({ length: 0x250 }, (_, code) => String.fromCodePoint(code)).join('');
const AWKWARD = `'"$(id)\`id\`\\\\n\\c%s !{a,b}*~#;&|<>\t\n🙂`;

test('a launcher runs a command and reports its output and how it ended', async () => {
  expect(await start('/bin/sh', ['-c', 'exit 7']).ending).toEqual({ kind: 'exited', exit_code: 7 });
  expect(await start('/bin/sh', ['-c', 'kill -KILL $$']).ending).toEqual({ kind: 'exited', exit_code: 137 });
  const long = start('/bin/sh', ['-c', 'head -c 3000000 /dev/zero; echo last >&2']);
  await long.ending;
  expect([long.said.stdout.length, long.said.stderr]).toEqual([3_000_000, 'last\n']);
});

test('arguments, variables and input reach a command byte for byte', async () => {
  const words = [AWKWARD, EVERY_CHARACTER.slice(1), '', '-n', "''", '\n\n'];
  const args = start('/usr/bin/printf', ['%s|', ...words]);
  expect(await args.ending).toMatchObject({ exit_code: 0 });
  expect(Buffer.from(args.said.stdout, 'latin1').toString()).toBe(words.map((word) => `${word}|`).join(''));
  const variables = start('/usr/bin/printenv', ['AWKWARD'], { env: { AWKWARD } });
  await variables.ending;
  expect(Buffer.from(variables.said.stdout, 'latin1').toString()).toBe(`${AWKWARD}\n`);
  for (const stdin of ['', AWKWARD, EVERY_CHARACTER, '\\0101', 'ü'.repeat(300_000)]) {
    const input = start('/bin/cat', [], { stdin });
    await input.ending;
    expect(Buffer.from(input.said.stdout, 'latin1').toString()).toBe(stdin);
    expect(input.said.stderr).toBe('');
  }
});

test('a command that does not read its input ends normally', async () => {
  const run = start('/bin/true', [], { stdin: 'x'.repeat(1_000_000) });
  expect(await run.ending).toEqual({ kind: 'exited', exit_code: 0 });
  expect(run.said).toEqual({ stdout: '', stderr: '' });
});

test('a command that the system would refuse is not started', async () => {
  expect(await start('/bin/echo', ['x'.repeat(200_000)]).ending).toMatchObject({ code: 'E2BIG' });
  expect(await start('/bin/echo', ['a\0b']).ending).toMatchObject({ code: 'EINVAL' });
  expect(await start('/bin/echo', [], { env: { 'A; id': '' } }).ending).toMatchObject({ code: 'EINVAL' });
});

test('a shell is reused for runs of one tenant, unless a run may have left processes behind', async () => {
  const shellOf = async (sandbox = often, tenant = 'acme') => {
    const run = start('/bin/sh', ['-c', 'echo $PPID'], { sandbox, tenant });
    await run.ending;
    return run.said.stdout;
  };
  const first = await shellOf();
  expect(await shellOf()).toBe(first);
  expect(await shellOf(often, 'other')).not.toBe(first);
  expect(await shellOf(once)).toBe(first);
  expect(await shellOf(once)).not.toBe(first);
});

test('output that one run leaves in its pipes does not reach the next run', async () => {
  await start('/bin/sh', ['-c', '(sleep 0.05; echo late; echo late >&2) &'], { sandbox: once }).ending;
  for (let i = 0; i < 5; i += 1) {
    const next = start('/bin/sleep', ['0.03']);
    await next.ending;
    expect(next.said).toEqual({ stdout: '', stderr: '' });
  }
});

test('a tool that is asked to stop may exit cleanly, and is killed if it does not', async () => {
  const patient = start('/bin/sh', ['-c', 'trap "echo bye; exit 3" TERM; echo ready; sleep 67 & wait']);
  await vi.waitFor(() => expect(patient.said.stdout).toBe('ready\n'), 30_000);
  patient.stop('ask');
  expect(await patient.ending).toEqual({ kind: 'exited', exit_code: 3 });
  const stubborn = start('/bin/sh', ['-c', 'trap "" TERM; echo ready; sleep 67']);
  await vi.waitFor(() => expect(stubborn.said.stdout).toBe('ready\n'), 30_000);
  stubborn.stop('ask');
  expect(await stubborn.ending).toEqual({ kind: 'killed', signal: 'SIGKILL' });
  expect(await start('/bin/true', []).ending).toEqual({ kind: 'exited', exit_code: 0 });
});

test("neither shells nor tools have the worker's environment", async () => {
  process.env.LAUNCHER_TEST_CANARY = 'canary';
  const run = start('/bin/sh', ['-c', 'env; echo $PPID; sleep 0.2']);
  await vi.waitFor(() => expect(run.said.stdout).toMatch(/^\d+$/m), 30_000);
  const [shell] = /^\d+$/m.exec(run.said.stdout) ?? [];
  expect(await readFile(`/proc/${shell}/environ`, 'utf8')).toBe('');
  await run.ending;
  expect(run.said.stdout.replace(/^(PWD|_|SHLVL)=.*\n/gm, '')).toBe(`${shell}\n`);
});

test('closing a launcher kills what is running', async () => {
  const mark = `65.${process.pid}`;
  const run = start('/bin/sh', ['-c', `echo ready; exec sleep ${mark}`]);
  await vi.waitFor(() => expect(run.said.stdout).toBe('ready\n'), 30_000);
  await launcher.close();
  await vi.waitFor(async () => expect(await processesWith(mark)).toEqual([]), 30_000);
});

test('a run that is stopped at the moment of its end is not killed afterwards', async () => {
  const time = `64.${process.pid}`;
  const starter = spawn('/bin/sh', ['-c', `sleep ${time} & wait`], { stdio: 'ignore', detached: true });
  const { pid = 0 } = starter;
  onTestFinished(() => void process.kill(-pid, 'SIGKILL'));
  const sleepers = () => processesWith(`sleep\0${time}`);
  await vi.waitFor(async () => expect(await sleepers()).toHaveLength(1), 5000);
  const stopper = new Stopper(once, Promise.resolve({ pid, leader: pid }));
  stopper.stop('kill');
  stopper.ended();
  await setImmediate();
  expect(await sleepers()).toHaveLength(1);
});
