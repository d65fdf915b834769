import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRedactor } from '@capstan/redact';
import { openCgroups } from '@capstan/sandbox';
import { processesWith, worksHere } from '@capstan/sandbox/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Runner, RunOutcome } from '../runner.js';
import { testCall, testDescriptor } from '../testing/test-call.js';
import { createExecRunner } from './create-exec-runner.js';

const cgroups = openCgroups();
cgroups?.close();
const CANARY = 'canary-that-nobody-may-hear';
const SHELL_RUN = testDescriptor({ tool_id: 'shell.run', runner: 'exec', risk: 'HIGH' });
process.env.CAPSTAN_TEST_CANARY = CANARY;

const stdoutOf = (outcome: RunOutcome): string => JSON.parse(JSON.stringify(outcome)).payload?.stdout ?? '';

describe.each(['bubblewrap', 'namespaces', 'process'] as const)('containment by %s', (level) => {
  const { works, name } = worksHere(level);
  const has_walls = level !== 'process';

  describe.skipIf(!works)(name, () => {
    let work_dir: string;
    let runner: Runner;
    beforeAll(async () => {
      work_dir = await mkdtemp(join(tmpdir(), 'containment-'));
      runner = createExecRunner({
        work_dir,
        env: { ...process.env, PATH: '/usr/bin:/bin' },
        sandbox_levels: [level],
        resources: {
          file_bytes: 10_000_000,
          temporary_bytes: 5_000_000,
          // Without its own namespace, other processes of that user count too.
          processes: has_walls ? 40 : 400,
          memory_bytes: 300_000_000,
        },
      });
    });
    afterAll(async () => {
      await runner.close?.();
      await rm(work_dir, { recursive: true, force: true });
    });

    const sh = (script: string, timeout_ms = 20_000, tty = false) =>
      runner.run(
        testCall(SHELL_RUN, {
          inputs: { cmd: ['sh', '-c', script], tty },
          limits: { timeout_ms, max_output_bytes: 100_000, shell: true, sandbox: 'preferred' },
          signal: AbortSignal.timeout(timeout_ms),
          redact: createRedactor({ values: [] }),
        }),
      );
    const marked = (what: string) => `${what}-${process.pid}-${level}`;
    const gone = (mark: string) => vi.waitFor(async () => expect(await processesWith(mark)).toEqual([]), 30_000);

    test('secrets of the worker are invisible', async () => {
      // /proc shows the environment that a process was started with, so the canary is put into another process. Without a sandbox, only a separate
      // user prevents tools from reading it.
      if (has_walls || process.getuid?.() === 0) {
        const started = spawn('sleep', ['60'], { env: { CAPSTAN_TEST_CANARY: CANARY }, stdio: 'ignore' });
        onTestFinished(() => void started.kill('SIGKILL'));
        await once(started, 'spawn');
        expect(await readFile(`/proc/${started.pid}/environ`, 'utf8')).toContain(CANARY);
      }
      const outcome = await sh('env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>&1; exit 1');
      expect(outcome).toMatchObject({ success: false, facts: { sandbox: expect.stringContaining(level) } });
      expect(stdoutOf(outcome)).toContain('PATH=');
      expect(JSON.stringify(outcome).includes(CANARY)).toBe(false);
    });

    test.skipIf(!has_walls)('files of the worker are invisible', async () => {
      const file = join(work_dir, 'data');
      await writeFile(file, CANARY);
      const outcome = await sh(
        `ls -A ${homedir()} ${work_dir} /var /run /home /etc/shadow; cat ${file}; ls /; ls /etc`,
      );
      expect(stdoutOf(outcome)).toMatch(/^usr$/m);
      expect(stdoutOf(outcome)).not.toMatch(/^(home|root|var|run|shadow|hosts)$/m);
      expect(JSON.stringify(outcome).includes(CANARY)).toBe(false);
    });

    test.skipIf(!has_walls)('only the work directory and a small /tmp are writable', async () => {
      const outcome = await sh(
        'for d in / /usr /etc /dev /bin /proc/sys/kernel; do touch $d/x 2>/dev/null && echo $d; done; touch ok /tmp/ok && echo fine',
      );
      expect(stdoutOf(outcome)).toBe('fine\n');
      expect(stdoutOf(await sh('head -c 20000000 /dev/zero > /tmp/big; stat -c %s /tmp/big'))).toMatch(
        /^[0-5]\d{0,6}\n$/,
      );
    });

    test.skipIf(!has_walls)('other processes are invisible', async () => {
      const seen = stdoutOf(await sh('ls /proc | grep -c "^[0-9]"'));
      expect(Number(seen)).toBeGreaterThan(0);
      expect(Number(seen)).toBeLessThan(10);
      expect(stdoutOf(await sh('cat /proc/1/environ'))).not.toContain('CAPSTAN_TEST');
    });

    test.skipIf(!has_walls)('there is no network, not even to the same machine', async () => {
      let connections = 0;
      const server = createServer(() => {
        connections += 1;
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      const script = `require('net').connect(${port}, '127.0.0.1').on('error', (e) => console.log(e.code)).on('connect', () => console.log('connected'))`;
      const outcome = await sh(`node -e "${script}"`);
      server.close();
      expect(stdoutOf(outcome)).toMatch(/^EAFNOSUPPORT\n$/);
      expect(connections).toBe(0);
    });

    test.skipIf(!has_walls)('it has no capabilities, and cannot get any', async () => {
      const outcome = await sh(
        'grep -E "Cap(Eff|Prm|Bnd)|NoNewPrivs" /proc/self/status; mount -t tmpfs x /tmp 2>&1 | head -1',
      );
      expect(stdoutOf(outcome)).toMatch(/CapPrm:\s+0{16}\n/);
      expect(stdoutOf(outcome)).toMatch(/CapEff:\s+0{16}\n/);
      expect(stdoutOf(outcome)).toMatch(/NoNewPrivs:\s+1\n/);
    });

    test('a file of 10 GB ends at the limit, and the error explains why', async () => {
      const outcome = await sh('head -c 10G /dev/zero > big; code=$?; stat -c %s big; exit $code');
      expect(outcome).toMatchObject({ success: false });
      expect(stdoutOf(outcome)).toBe('10000000\n');
      const direct = await runner.run(
        testCall(SHELL_RUN, {
          inputs: { cmd: ['dd', 'if=/dev/zero', 'of=big', 'bs=1M', 'count=10000'] },
          limits: { timeout_ms: 20_000, max_output_bytes: 1000, sandbox: 'preferred' },
        }),
      );
      expect(direct).toMatchObject({ success: false, error: expect.stringMatching(/SIGXFSZ|too large/i) });
    });

    test('memory is limited', async () => {
      const script = `const a = []; console.log('started'); while (a.length < 12) a.push(Buffer.alloc(50e6, 1)); console.log('ended')`;
      const outcome = await sh(`node -e "${script}"`);
      expect(outcome).toMatchObject({ success: false });
      expect(stdoutOf(outcome)).toBe('started\n');
    });

    test.skipIf(!has_walls || !cgroups)(
      'memory is counted for all processes together, and the error explains it',
      async () => {
        const hoard = `node -e "const a = Buffer.alloc(200e6, 1); setTimeout(() => a.at(0), 3000)"`;
        const outcome = await sh(`${hoard} & ${hoard} & ${hoard} & for job in 1 2 3; do wait %$job || exit 9; done`);
        expect(outcome).toMatchObject({ success: false, error: expect.stringContaining('more memory than they may') });
      },
    );

    test.skipIf(!has_walls || !cgroups)('the peak number of processes is reported for each run', async () => {
      const at_once = async (script: string) => (await sh(script)).facts?.observed?.processes;
      expect(await at_once('sleep 0.3 & sleep 0.3 & sleep 0.3 & wait')).toBe(4);
      // Includes processes of earlier runs that have exited and were not reaped.
      for (let run = 0; run < 3; run += 1) expect(await at_once('true')).toBe(1);
    });

    test.skipIf(!has_walls || !cgroups)('in a terminal it is limited and measured as well', async () => {
      const outcome = await sh('sleep 2 & sleep 2 & sleep 2 & wait', undefined, true);
      expect(outcome.facts?.observed?.processes).toBe(4);
    });

    test.skipIf(!has_walls)('runs cannot reach the sockets of other runs, at the same time or later', async () => {
      // Abstract sockets belong to the network namespace, which runs of one tenant share one after the other.
      const address = `'\\0capstan-test'`;
      const listen = `require('node:net').createServer().listen(${address}, () => console.log('listening'))`;
      const connect = `node -e "require('node:net').connect(${address}).on('error', (e) => console.log(e.code))"`;
      const nobody = /^ECONNREFUSED/;
      const listening = sh(`timeout 2 node -e "${listen}"`);
      for (let run = 0; run < 3; run += 1) expect(stdoutOf(await sh(`sleep 0.3; ${connect}`))).toMatch(nobody);
      expect(stdoutOf(await listening)).toBe('listening\n');
      await sh(`setsid -f node -e "${listen}"; sleep 0.3`);
      for (let run = 0; run < 3; run += 1) expect(stdoutOf(await sh(connect))).toMatch(nobody);
    });

    test('a fork bomb is contained, and no process of it is left', async () => {
      const mark = marked('bomb');
      const outcome = await sh(`: ${mark}; f() { f | f & f; }; f`, 1500);
      expect(outcome.facts).toMatchObject({ sandbox: expect.stringContaining(level) });
      if (has_walls) return gone(mark);
      // Killed processes count against the limit of their user until they are reaped.
      const fork = 'for i in 1 2 3 4 5 6 7 8; do sleep 0.02 & done; wait';
      await vi.waitFor(async () => expect(await sh(fork)).toMatchObject({ payload: { stderr: '' } }), 30_000);
    });

    test('children in separate sessions end with it', async () => {
      const mark = `62.${process.pid}${level.length}`;
      await sh(
        `for i in 1 2 3; do setsid -f sleep ${mark}; done; setsid sh -c 'setsid sleep ${mark} & sleep ${mark}' &`,
      );
      await gone(mark);
    });

    test('endless output is stopped and reported', async () => {
      const mark = marked('flood');
      // 256 MiB go through a pipe first, which takes a busy machine its time.
      const outcome = await sh(`: ${mark}; exec head -c 10G /dev/zero`, 100_000);
      expect(outcome).toMatchObject({
        success: false,
        truncated: true,
        error: expect.stringContaining('wrote more than'),
      });
      await gone(mark);
    });

    test('in a terminal all its output arrives', async () => {
      const outcomes = await Promise.all([1, 2, 3, 4].map(() => sh('seq 10000', undefined, true)));
      for (const outcome of outcomes) expect(stdoutOf(outcome).endsWith('\r\n9999\r\n10000\r\n')).toBe(true);
    });

    test('output of leftover processes does not appear in the next run', async () => {
      const lingering = '(while :; do echo evil; echo evil >&2; done) & sleep 0.1; exit 0';
      const unblocked = `node -e "process.stdout.write('x'); process.kill(process.pid, 'SIGKILL')"`;
      for (const script of [lingering, unblocked, lingering, unblocked]) {
        await sh(script);
        const next = await sh('head -c 90000 /dev/zero | tr "\\0" y');
        expect(next).toMatchObject({ payload: { stdout: 'y'.repeat(90_000), stderr: '', exit_code: 0 } });
      }
    });

    test('a closed stdout does not affect the end', async () => {
      expect(await sh('exec >&- 2>&- <&-; exit 5')).toMatchObject({ exit_code: 5, payload: { stdout: '' } });
    });
  });
});

test('without a sandbox, a tool with more than LOW risk is refused, with what to install', async () => {
  const work_dir = await mkdtemp(join(tmpdir(), 'containment-'));
  const runner = createExecRunner({ work_dir, sandbox_levels: ['process'] });
  const call = testCall(SHELL_RUN, { inputs: { cmd: ['true'] } });
  expect(await runner.run(call)).toMatchObject({
    success: false,
    kind: 'SANDBOX_UNAVAILABLE',
    retryable: false,
    error: expect.stringContaining('apt-get install bubblewrap'),
  });
  expect(await runner.run({ ...call, descriptor: { ...SHELL_RUN, risk: 'LOW' } })).toMatchObject({ success: true });
  const preferred = { ...call.limits, sandbox: 'preferred' } as const;
  expect(await runner.run({ ...call, limits: preferred })).toMatchObject({
    facts: { sandbox: expect.stringMatching(/^process/) },
  });
  const required = { ...call.limits, sandbox: 'required' } as const;
  expect(await runner.run({ ...call, descriptor: { ...SHELL_RUN, risk: 'LOW' }, limits: required })).toMatchObject({
    kind: 'SANDBOX_UNAVAILABLE',
  });
  await runner.close?.();
  await rm(work_dir, { recursive: true });
});
