import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject, LogStream } from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Call, Runner, RunOutcome } from '../runner.js';
import { testCall, testDescriptor } from '../testing/test-call.js';
import { createExecRunner } from './create-exec-runner.js';

const SECRET = 'correct-horse-battery-staple';
const PATH = '/usr/local/bin:/usr/bin:/bin';

let work_dir: string;
let runner: Runner;
beforeAll(async () => {
  work_dir = await mkdtemp(join(tmpdir(), 'exec-runner-'));
  runner = createExecRunner({
    work_dir,
    env: { PATH, HOME: '/nowhere', LANG: 'C.UTF-8', AWS_SECRET_ACCESS_KEY: SECRET },
  });
});
afterAll(async () => {
  await runner.close?.();
  await rm(work_dir, { recursive: true, force: true });
});

type Options = Partial<Call> & { max_output_bytes?: number };

const SHELL_RUN = testDescriptor({ tool_id: 'shell.run', runner: 'exec', risk: 'HIGH', side_effects: ['system.exec'] });

const callOf = (inputs: JsonObject, { max_output_bytes = 1_000_000, ...overrides }: Options = {}): Call =>
  testCall(SHELL_RUN, {
    inputs,
    limits: { timeout_ms: 30_000, max_output_bytes },
    redact: createRedactor({ values: [SECRET] }),
    ...overrides,
  });

const run = async (cmd: Json, options?: Options & { stdin?: string }): Promise<RunOutcome> => {
  const { stdin, ...call } = options ?? {};
  return runner.run(callOf(stdin === undefined ? { cmd } : { cmd, stdin }, call));
};
const sh = (script: string, options?: Options & { stdin?: string }) => run(['sh', '-c', script], options);
const node = (script: string, options?: Options & { stdin?: string }) => run([process.execPath, '-e', script], options);

/** Neither gone nor a zombie that nobody has waited for. */
const isAlive = async (pid: number): Promise<boolean> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
  return !/\) [ZX]/.test(stat);
};
const pidIn = (outcome: RunOutcome): number => {
  const pid = Number(JSON.parse(JSON.stringify(outcome)).payload.stdout);
  expect(pid).toBeGreaterThan(1);
  return pid;
};
const allGone = (pids: number[]) =>
  vi.waitFor(async () => expect(await Promise.all(pids.map(isAlive))).not.toContain(true), 5000);

/** Runs `script`, and aborts once it has written as many lines of pids as are expected. */
const abortOnceReady = async (script: string, lines: number) => {
  const controller = new AbortController();
  let seen = '';
  let aborted = 0;
  await sh(script, {
    signal: controller.signal,
    log: (_, text) => {
      seen += text;
      if (seen.split('\n').length <= lines || controller.signal.aborted) return;
      aborted = performance.now();
      controller.abort();
    },
  });
  return { pids: seen.trim().split(/\s+/).map(Number), elapsed: performance.now() - aborted };
};

describe('a command', () => {
  test('answers with its output and its exit code', async () => {
    expect(await sh('echo out; echo err >&2')).toEqual({
      success: true,
      payload: { stdout: 'out\n', stderr: 'err\n', exit_code: 0 },
      exit_code: 0,
      truncated: false,
    });
  });

  test('gets its arguments as they are, without any shell', async () => {
    const args = ['$HOME', '`id`', '; echo no', '*', '', 'a b', '"', "'", '\\', 'ü\n'];
    expect(await run(['printf', '[%s]', ...args])).toMatchObject({
      payload: { stdout: args.map((arg) => `[${arg}]`).join('') },
    });
  });

  test('logs live, by stream, exactly what it answers in the end', async () => {
    const logged: Record<LogStream, string> = { stdout: '', stderr: '' };
    const outcome = await sh('for i in 1 2 3; do echo out $i; echo err $i >&2; done', {
      log: (stream, text) => {
        logged[stream] += text;
      },
    });
    expect(outcome).toMatchObject({ payload: logged });
    expect(logged.stdout).toBe('out 1\nout 2\nout 3\n');
  });

  test('is heard while it still runs', async () => {
    const controller = new AbortController();
    const outcome = await sh('printf "no newline"; exec sleep 60', {
      signal: controller.signal,
      log: () => controller.abort(),
    });
    expect(outcome).toMatchObject({ payload: { stdout: 'no newline' } });
  });

  test('sees six variables at most, and none of the worker', async () => {
    const outcome = await run(['env']);
    expect(outcome).toMatchObject({ payload: { stdout: `PATH=${PATH}\nHOME=/nowhere\nLANG=C.UTF-8\n` } });
  });

  test('runs in a fresh directory inside of the work directory, which is removed after', async () => {
    const outcome = await sh('pwd; ls -A; touch file; mkdir -p a/b; chmod 500 a');
    expect(outcome).toMatchObject({ payload: { stdout: expect.stringContaining(`${work_dir}/run-`) } });
    expect(outcome).toMatchObject({ payload: { stdout: expect.stringMatching(/^[^\n]+\n$/) } });
    expect(await readdir(work_dir)).toEqual([]);
  });

  test('leaves no directory behind even when its paths are too long to name', async () => {
    const outcome = await sh('d=$(printf %0200d 0); for i in $(seq 40); do mkdir $d && cd -P $d || exit 1; done');
    expect(outcome).toMatchObject({ success: true });
    expect(await readdir(work_dir)).toEqual([]);
  });

  test('runs beside others without mixing their output', async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => run(['echo', `run ${index}`])));
    expect(outcomes).toEqual(
      outcomes.map((_, index) =>
        expect.objectContaining({ payload: { stdout: `run ${index}\n`, stderr: '', exit_code: 0 } }),
      ),
    );
  });

  test('creates the work directory when there is none', async () => {
    const fresh = createExecRunner({ work_dir: join(work_dir, 'not', 'yet') });
    expect(await fresh.run(callOf({ cmd: ['true'] }))).toMatchObject({ success: true });
    await fresh.close?.();
    await rm(join(work_dir, 'not'), { recursive: true });
  });
});

describe('a failure', () => {
  test('an exit code other than 0 is a failure that keeps the output and names the last line of stderr', async () => {
    expect(await sh('echo out; echo first >&2; printf "\\033[31mfatal: no\\033[0m\\n\\n" >&2; exit 3')).toEqual({
      success: false,
      error: 'sh exited with 3: fatal: no',
      kind: 'TOOL_ERROR',
      retryable: true,
      payload: { stdout: 'out\n', stderr: 'first\n\u001b[31mfatal: no\u001b[0m\n\n', exit_code: 3 },
      exit_code: 3,
      truncated: false,
    });
    expect(await run(['false'])).toMatchObject({ error: 'false exited with 1' });
  });

  test('a death by signal is a failure with the exit code that a shell would give', async () => {
    expect(await sh('echo out; kill -SEGV $$')).toMatchObject({
      success: false,
      error: 'sh was killed by SIGSEGV',
      retryable: true,
      exit_code: 139,
      payload: { stdout: 'out\n', exit_code: 139 },
    });
  });

  test('a missing executable says what to install', async () => {
    expect(await run(['rg-that-is-not-there', 'x'])).toEqual({
      success: false,
      kind: 'EXECUTABLE_NOT_FOUND',
      retryable: false,
      error: `rg-that-is-not-there was not found in the worker's PATH (${PATH}); install it there, on Debian: apt-get install rg-that-is-not-there`,
    });
    const bare = createExecRunner({ work_dir, env: { PATH: '/nowhere' } });
    expect(await bare.run(callOf({ cmd: ['rg'] }))).toMatchObject({
      error: expect.stringContaining('install ripgrep'),
    });
    expect(await run(['./nothing'])).toMatchObject({ kind: 'EXECUTABLE_NOT_FOUND', retryable: false });
  });

  test('a file that may not be executed says so', async () => {
    const file = join(work_dir, 'plain.txt');
    await writeFile(file, 'text');
    expect(await run([file])).toMatchObject({
      kind: 'TOOL_ERROR',
      retryable: false,
      error: expect.stringContaining('EACCES'),
    });
    await rm(file);
  });

  test('arguments that are too long say so', async () => {
    expect(await run(['echo', 'x'.repeat(5_000_000)])).toMatchObject({
      kind: 'INVALID_INPUTS',
      retryable: false,
      error: 'the arguments of echo are longer than the system takes; pass them by stdin',
    });
  });

  test.each<[what: string, inputs: JsonObject]>([
    ['a NUL byte in an argument', { cmd: ['echo', 'a\0b'] }],
    ['a NUL byte in the executable', { cmd: ['ec\0ho'] }],
    ['no cmd', {}],
    ['an empty cmd', { cmd: [] }],
    ['an empty executable', { cmd: [''] }],
    ['a command line as one string', { cmd: 'echo hello' }],
    ['an argument that is no string', { cmd: ['echo', 1] }],
    ['stdin that is no string', { cmd: ['cat'], stdin: 1 }],
    ['an unknown input', { cmd: ['env'], env: { LD_PRELOAD: 'x' } }],
  ])('%s is refused, not thrown', async (_, inputs) => {
    expect(await runner.run(callOf(inputs))).toMatchObject({
      success: false,
      kind: 'INVALID_INPUTS',
      retryable: false,
    });
  });

  test('a tool that this runner does not have is unknown', async () => {
    const call = callOf({ cmd: ['true'] });
    const outcome = await runner.run({ ...call, descriptor: { ...call.descriptor, tool_id: 'shell.other' } });
    expect(outcome).toMatchObject({ success: false, kind: 'UNKNOWN_TOOL', retryable: false });
  });

  test('a secret in the command line does not come back in the error', async () => {
    const outcome = await run([`/nowhere/${SECRET}`]);
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
    expect(outcome).toMatchObject({ kind: 'EXECUTABLE_NOT_FOUND', error: expect.stringContaining('[REDACTED]') });
  });
});

describe('output', () => {
  test('a secret is redacted in the answer, in the log and in the error', async () => {
    const logged: string[] = [];
    const outcome = await sh(`echo ${SECRET}; echo "no ${SECRET}" >&2; exit 1`, {
      log: (_, text) => logged.push(text),
    });
    expect(outcome).toMatchObject({
      error: 'sh exited with 1: no [REDACTED]',
      payload: { stdout: '[REDACTED]\n', stderr: 'no [REDACTED]\n' },
    });
    expect(logged.join('')).not.toContain('horse');
  });

  test('a secret written byte by byte is redacted', async () => {
    const script = `const { writeSync } = require('fs'); for (const c of 'a ${SECRET} b') writeSync(1, c);`;
    expect(await node(script)).toMatchObject({ payload: { stdout: 'a [REDACTED] b' } });
  });

  test('output is redacted before it is cut, so that no half of a secret is left', async () => {
    for (const max_output_bytes of [5, 12, 20, 30]) {
      const outcome = await sh(`printf 'abc ${SECRET} def'`, { max_output_bytes });
      expect(outcome).toMatchObject({
        payload: { stdout: 'abc [REDACTED] def'.slice(0, max_output_bytes) },
        truncated: max_output_bytes < 18,
      });
    }
  });

  test('each stream is cut at the limit, and the process runs on to its own end', async () => {
    const logged: string[] = [];
    const script = 'yes | head -c 300000; echo last words >&2; exit 7';
    const outcome = await sh(script, { max_output_bytes: 1000, log: (_, text) => logged.push(text) });
    expect(outcome).toMatchObject({
      success: false,
      truncated: true,
      exit_code: 7,
      payload: { stdout: 'y\n'.repeat(500), stderr: 'last words\n' },
    });
    expect(logged.join('')).toHaveLength(1000 + 'last words\n'.length);
  });

  test('output as long as the limit is whole', async () => {
    expect(await run(['printf', '%s', 'abcd'], { max_output_bytes: 4 })).toMatchObject({
      truncated: false,
      payload: { stdout: 'abcd' },
    });
  });

  test('bytes that are no UTF-8 become U+FFFD', async () => {
    expect(await run(['printf', '%b', 'a\\0377b\\0303'])).toMatchObject({ payload: { stdout: 'a\ufffdb\ufffd' } });
  });

  test('100 MB of output leave the memory as it was', async () => {
    const before = process.memoryUsage().rss;
    let peak = before;
    const sampling = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 5);
    const outcome = await run(['head', '-c', '100000000', '/dev/zero'], { max_output_bytes: 10_000 });
    clearInterval(sampling);
    expect(outcome).toMatchObject({ success: true, truncated: true });
    expect((peak - before) / 1e6).toBeLessThan(60);
  });
});

describe('stdin', () => {
  test('is given to the command', async () => {
    const stdin = 'ü'.repeat(200_000);
    expect(await run(['cat'], { stdin })).toMatchObject({ payload: { stdout: stdin } });
    expect(await run(['cat'], { stdin: '' })).toMatchObject({ payload: { stdout: '' } });
  });

  test('is empty when none is given', async () => {
    expect(await run(['cat'])).toMatchObject({ success: true, payload: { stdout: '' } });
  });

  test('may be left unread', async () => {
    const stdin = 'x'.repeat(5_000_000);
    expect(await run(['true'], { stdin })).toMatchObject({ success: true });
    expect(await run(['head', '-c', '3'], { stdin })).toMatchObject({ success: true, payload: { stdout: 'xxx' } });
    expect(await sh('exec 0<&-; echo on', { stdin })).toMatchObject({ success: true, payload: { stdout: 'on\n' } });
  });
});

describe('an abort', () => {
  test('ends the whole process group', async () => {
    const { pids, elapsed } = await abortOnceReady('sleep 60 & echo $!; (sleep 61 & echo $!; wait) & echo $$; wait', 3);
    expect(pids).toHaveLength(3);
    await allGone(pids);
    expect(elapsed).toBeLessThan(5000);
  });

  test('kills what ignores SIGTERM half a second later', async () => {
    const { pids, elapsed } = await abortOnceReady("trap '' TERM; sleep 60 & echo $! $$; while :; do wait; done", 1);
    await allGone(pids);
    expect(elapsed).toBeGreaterThan(450);
    expect(elapsed).toBeLessThan(5000);
  });

  test('kills children that ignore SIGTERM although the command itself obeyed', async () => {
    const script = "(trap '' TERM; echo ready; sleep 60; sleep 60) >&2 & trap 'exit 0' TERM; echo $! $$; wait";
    const { pids } = await abortOnceReady(script, 2);
    await allGone(pids.filter(Boolean));
  });

  test('kills a stopped process', async () => {
    const { pids } = await abortOnceReady('echo $$; kill -STOP $$', 1);
    await allGone(pids);
  });

  // A process group cannot hold what leaves it; this is what a pid namespace is for.
  test('does not reach a child that made a session of its own, and does not wait for it', async () => {
    const { pids, elapsed } = await abortOnceReady("setsid sh -c 'echo $$; exec sleep 60' & wait", 1);
    const [escaped = 0] = pids;
    expect(elapsed).toBeLessThan(5000);
    expect(await isAlive(escaped)).toBe(true);
    process.kill(escaped, 'SIGKILL');
  });

  test('before the start starts nothing', async () => {
    const outcome = await run(['touch', join(work_dir, 'started')], { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ success: false, kind: 'CANCELED' });
    expect(await readdir(work_dir)).toEqual([]);
  });
});

describe('the end of a command', () => {
  const timed = async (script: string) => {
    const started = performance.now();
    const outcome = await sh(script);
    return { outcome, elapsed: performance.now() - started };
  };

  test('is not delayed by a child that keeps the pipe open, which is killed', async () => {
    const { outcome, elapsed } = await timed('sleep 60 & echo $!');
    expect(outcome).toMatchObject({ success: true, payload: { stdout: expect.stringMatching(/^\d+\n$/) } });
    expect(elapsed).toBeLessThan(5000);
    await allGone([pidIn(outcome)]);
  });

  test('is not delayed by a child in a session of its own that keeps the pipe open', async () => {
    const { outcome, elapsed } = await timed(
      "setsid sh -c 'echo $$; touch up; exec sleep 60' & until [ -e up ]; do sleep 0.01; done",
    );
    expect(elapsed).toBeLessThan(5000);
    process.kill(pidIn(outcome), 'SIGKILL');
  });

  test('takes quiet children with it', async () => {
    const { outcome } = await timed('sleep 60 >/dev/null 2>&1 </dev/null & echo $!');
    await allGone([pidIn(outcome)]);
  });

  test('is awaited when it closed its output before', async () => {
    expect(await sh('echo early; exec >&- 2>&-; sleep 0.3; exit 4')).toMatchObject({
      exit_code: 4,
      payload: { stdout: 'early\n' },
    });
  });

  test('loses nothing of what was written last', async () => {
    const outcome = await node("process.stdout.write('x'.repeat(60000)); process.exit(0)");
    expect(outcome).toMatchObject({ payload: { stdout: 'x'.repeat(60_000) } });
  });
});

describe('a worker that is killed -9', () => {
  // The built package, because a worker is a process of its own.
  const worker = `
    import { createExecRunner, createRedactor } from '@capstan/runners';
    const runner = createExecRunner({ work_dir: process.argv[1] });
    await runner.run({
      descriptor: { tool_id: 'shell.run' },
      inputs: { cmd: ['sh', '-c', 'sleep 60 & echo $! $$; wait'] },
      limits: { timeout_ms: 60000, max_output_bytes: 1000 },
      signal: new AbortController().signal,
      redact: createRedactor({ values: [] }),
      log: (_, text) => process.stdout.write(text),
    });`;

  test('leaves neither processes nor directories', async () => {
    const lost_dir = join(work_dir, 'of a worker');
    const process_of_worker = execa(process.execPath, ['--input-type=module', '-e', worker, lost_dir], {
      cwd: join(import.meta.dirname, '../..'),
      reject: false,
    });
    const line = await new Promise<string>((resolve) =>
      process_of_worker.stdout.once('data', (chunk) => resolve(`${chunk}`)),
    );
    const pids = line.trim().split(' ').map(Number);
    expect(await Promise.all(pids.map(isAlive))).toEqual([true, true]);
    expect(await readdir(lost_dir)).toHaveLength(1);

    process_of_worker.kill('SIGKILL');
    await allGone(pids);
    await vi.waitFor(async () => expect(await readdir(lost_dir)).toEqual([]), 5000);
    await rm(lost_dir, { recursive: true });
  });
});
