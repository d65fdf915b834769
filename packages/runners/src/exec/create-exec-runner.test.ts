import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject, LogStream } from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Call, Runner, RunOutcome } from '../runner.js';
import { processesWith } from '../testing/processes-with.js';
import { testCall, testDescriptor } from '../testing/test-call.js';
import { worksHere } from '../testing/works-here.js';
import { createExecRunner } from './create-exec-runner.js';

const SECRET = 'correct-horse-battery-staple';
const PATH = '/usr/local/bin:/usr/bin:/bin';
const SHELL_RUN = testDescriptor({ tool_id: 'shell.run', runner: 'exec', risk: 'HIGH', side_effects: ['system.exec'] });

type Options = Partial<Call> & { max_output_bytes?: number };

const callOf = (inputs: JsonObject, { max_output_bytes = 1_000_000, ...overrides }: Options = {}): Call =>
  testCall(SHELL_RUN, {
    inputs,
    limits: { timeout_ms: 30_000, max_output_bytes, shell: true, sandbox: 'preferred' },
    redact: createRedactor({ values: [SECRET] }),
    ...overrides,
  });

let marks = 0;
/** A time to sleep that no other process sleeps. */
const mark = () => {
  marks += 1;
  return `60.${process.pid}${marks}`;
};
const gone = (...marked: string[]) =>
  vi.waitFor(async () => expect((await Promise.all(marked.map(processesWith))).flat()).toEqual([]), 5000);

describe.each(['bubblewrap', 'namespaces', 'process'] as const)('with containment by %s', (level) => {
  const { works, name } = worksHere(level);
  describe.skipIf(!works)(name, () => {
    let work_dir: string;
    let runner: Runner;
    beforeAll(async () => {
      work_dir = await mkdtemp(join(tmpdir(), 'exec-runner-'));
      runner = createExecRunner({
        work_dir,
        env: { PATH, HOME: '/nowhere', LANG: 'C.UTF-8', AWS_SECRET_ACCESS_KEY: SECRET },
        sandbox_levels: [level],
      });
    });
    afterAll(async () => {
      await runner.close?.();
      await rm(work_dir, { recursive: true, force: true });
    });

    const run = async (cmd: Json, options?: Options & { stdin?: string }): Promise<RunOutcome> => {
      const { stdin, ...call } = options ?? {};
      return runner.run(callOf(stdin === undefined ? { cmd } : { cmd, stdin }, call));
    };
    const sh = (script: string, options?: Options & { stdin?: string }) => run(['sh', '-c', script], options);
    const node = (script: string, options?: Options & { stdin?: string }) => run(['node', '-e', script], options);
    /** What runs have left. Empty directories wait for the next run. */
    const leftovers = async () =>
      (await readdir(work_dir, { recursive: true })).filter((each) => /run-\d+\/(?!artifacts$)/.test(each));

    /** Runs `script`, and aborts once it has written as many lines as are expected. */
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
      return { elapsed: performance.now() - aborted };
    };

    describe('a command', () => {
      test('answers with its output and its exit code', async () => {
        expect(await sh('echo out; echo err >&2')).toEqual({
          success: true,
          payload: { stdout: 'out\n', stderr: 'err\n', exit_code: 0 },
          exit_code: 0,
          truncated: false,
          facts: { sandbox: level, observed: expect.any(Object) },
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

      test('sees the variables it is to see, and none of the worker', async () => {
        const outcome = await run(['env']);
        const names = stdoutOf(outcome)
          .trim()
          .split('\n')
          .map((line) => line.split('=')[0]);
        const known = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TMPDIR', 'CAPSTAN_ARTIFACTS', 'CAPSTAN_RUN', 'PWD'];
        expect(names.filter((each) => !known.includes(each ?? ''))).toEqual([]);
        expect(stdoutOf(outcome)).toContain(`PATH=${PATH}\n`);
        expect(stdoutOf(outcome)).not.toContain('/nowhere');
      });

      test('runs in a fresh directory of its own, which is removed after', async () => {
        const outcome = await sh('pwd; ls -A; touch file; mkdir -p a/b; chmod 500 a');
        expect(stdoutOf(outcome)).toMatch(/^\/.*\/run-\d+\nartifacts\n$/);
        expect(outcome).toMatchObject({ facts: { observed: { files_written: ['file'] } } });
        expect(await leftovers()).toEqual([]);
      });

      test('leaves no directory behind even when its paths are too long to name', async () => {
        const outcome = await sh('d=$(printf %0200d 0); for i in $(seq 40); do mkdir $d && cd -P $d || exit 1; done');
        expect(outcome).toMatchObject({ success: true });
        expect(await leftovers()).toEqual([]);
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
        const fresh = createExecRunner({ work_dir: join(work_dir, 'not', 'yet'), sandbox_levels: [level] });
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
          facts: { sandbox: level, observed: expect.any(Object) },
        });
        expect(await run(['false'])).toMatchObject({ error: 'false exited with 1' });
      });

      test('a death by signal is a failure with the exit code that a shell would give', async () => {
        expect(await sh('echo out; kill -SEGV $$')).toMatchObject({
          success: false,
          error: expect.stringMatching(/^sh was killed by SIGSEGV/),
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
        const bare = createExecRunner({ work_dir, env: { PATH: '/nowhere' }, sandbox_levels: [level] });
        expect(await bare.run(callOf({ cmd: ['rg'] }))).toMatchObject({
          error: expect.stringContaining('install ripgrep'),
        });
        await bare.close?.();
        expect(await run(['./nothing'])).toMatchObject({ kind: 'EXECUTABLE_NOT_FOUND', retryable: false });
      });

      test('a file that may not be executed says so', async () => {
        expect(await run(['/etc/passwd'])).toMatchObject({
          kind: 'TOOL_ERROR',
          retryable: false,
          error: expect.stringContaining('EACCES'),
        });
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
        ['an unknown input', { cmd: ['env'], cwd: '/' }],
        ['a variable that is no secret', { cmd: ['env'], env: { TOKEN: 'x' } }],
        ['a variable that gives orders', { cmd: ['env'], env: { LD_PRELOAD: 'secret://x' } }],
        ['a secret in the command line', { cmd: ['echo', 'secret://x'] }],
        ['a tty that is neither true nor false', { cmd: ['env'], tty: 1 }],
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

    test('a terminal is a real one, with a name and a size, and what is typed into it is read', async () => {
      const cmd = ['sh', '-c', 'tty; test -t 1 && test -t 2 && stty size; cat'];
      const outcome = await runner.run(callOf({ cmd, tty: true, stdin: 'typed' }));
      expect(outcome).toMatchObject({ success: true, payload: { stderr: '' } });
      // Its echo may stand anywhere among the rest.
      for (const part of [/\/dev\/(console|pts\/\d+)/, /40 120/, /typed[\s\S]*typed/])
        expect(stdoutOf(outcome)).toMatch(part);
    });

    test('a line that a terminal would cut is refused', async () => {
      const typing = (stdin: string) => runner.run(callOf({ cmd: ['cat'], tty: true, stdin }));
      expect(await typing('x'.repeat(4096))).toMatchObject({ kind: 'INVALID_INPUTS', retryable: false });
      expect(stdoutOf(await typing('x'.repeat(4095)))).toMatch(/x{4095}\r\n$/);
    });

    describe('an abort', () => {
      test('ends the command with its children', async () => {
        const [one, two] = [mark(), mark()];
        const { elapsed } = await abortOnceReady(
          `sleep ${one} & echo 1; (sleep ${two} & echo 2; wait) & echo 3; wait`,
          3,
        );
        await gone(one, two);
        expect(elapsed).toBeLessThan(5000);
      });

      test('lets it end in good order', async () => {
        const said: string[] = [];
        const controller = new AbortController();
        await sh("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done", {
          signal: controller.signal,
          log: (stream, text) => {
            // On stderr a shell may tell of its child, before or after.
            if (stream === 'stdout') said.push(text);
            controller.abort();
          },
        });
        expect(said.join('')).toBe('ready\nbye\n');
      });

      test('kills what ignores SIGTERM half a second later', async () => {
        const one = mark();
        const { elapsed } = await abortOnceReady(`trap '' TERM; sleep ${one} & echo 1; while :; do wait; done`, 1);
        await gone(one);
        expect(elapsed).toBeGreaterThan(450);
        expect(elapsed).toBeLessThan(5000);
      });

      test('kills children that ignore SIGTERM although the command itself obeyed', async () => {
        const one = mark();
        const script = `(trap '' TERM; echo ready; sleep ${one}; sleep ${one}) >&2 & trap 'exit 0' TERM; echo 1; wait`;
        await abortOnceReady(script, 2);
        await gone(one);
      });

      test('kills a stopped process', async () => {
        const one = mark();
        await abortOnceReady(`echo ${one}; kill -STOP $$`, 1);
        await gone(one);
      });

      test.skipIf(level === 'process')('reaches a child that made a session of its own', async () => {
        const one = mark();
        await abortOnceReady(`setsid sh -c 'echo 1; exec sleep ${one}' & wait`, 1);
        await gone(one);
      });

      // A process group cannot hold what leaves it; this is what a pid namespace is for.
      test.skipIf(level !== 'process')('is not delayed by a child that made a session of its own', async () => {
        const one = mark();
        const { elapsed } = await abortOnceReady(`setsid sh -c 'echo 1; exec sleep ${one}' & wait`, 1);
        expect(elapsed).toBeLessThan(5000);
        for (const pid of await processesWith(one)) process.kill(pid, 'SIGKILL');
      });

      test('before the start starts nothing', async () => {
        const outcome = await run(['touch', 'started'], { signal: AbortSignal.abort() });
        expect(outcome).toMatchObject({ success: false, kind: 'CANCELED' });
        expect(await leftovers()).toEqual([]);
      });
    });

    describe('the end of a command', () => {
      const timed = async (script: string) => {
        const started = performance.now();
        const outcome = await sh(script);
        return { outcome, elapsed: performance.now() - started };
      };

      test('is not delayed by a child that keeps the pipe open, which is killed', async () => {
        const one = mark();
        const { outcome, elapsed } = await timed(`sleep ${one} & echo on`);
        expect(outcome).toMatchObject({ success: true, payload: { stdout: 'on\n' } });
        expect(elapsed).toBeLessThan(5000);
        await gone(one);
      });

      test('is not delayed by a child in a session of its own that keeps the pipe open', async () => {
        const one = mark();
        const { elapsed } = await timed(
          `setsid sh -c 'touch up; exec sleep ${one}' & until [ -e up ]; do sleep 0.01; done`,
        );
        expect(elapsed).toBeLessThan(5000);
        if (level === 'process') for (const pid of await processesWith(one)) process.kill(pid, 'SIGKILL');
        await gone(one);
      });

      test('takes quiet children with it', async () => {
        const one = mark();
        await sh(`sleep ${one} >/dev/null 2>&1 </dev/null &`);
        await gone(one);
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
  });
});

const stdoutOf = (outcome: RunOutcome): string => JSON.parse(JSON.stringify(outcome)).payload.stdout;
