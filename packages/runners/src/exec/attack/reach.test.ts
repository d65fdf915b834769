import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { processesWith, worksHere } from '@capstan/sandbox/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Runner } from '../../runner.js';
import { createExecRunner } from '../create-exec-runner.js';
import { callOf } from '../testing/on-each-level.js';
import { attackEachLevel } from './with-python.js';

const is_root = process.getuid?.() === 0;
const as_root = is_root ? 'under root' : 'NOT TESTED: only a worker that is root has users to give';

attackEachLevel(({ sh, level, attack }) => {
  /** The identity according to the kernel, not as the sandbox shows it. */
  const userOf = async (tenant: string): Promise<number> => {
    const mark = `64.${process.pid}${tenant.length}`;
    const controller = new AbortController();
    let uid = Number.NaN;
    const look = async () => {
      const [pid] = await processesWith(`sleep\0${mark}`);
      uid = Number(/^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
      controller.abort();
    };
    await sh(`echo ready; exec sleep ${mark}`, {
      tenant,
      signal: controller.signal,
      log: () => void vi.waitFor(look, 30_000),
    });
    return uid;
  };

  test.skipIf(!is_root)(`each tenant has its own user, which is not nobody: ${as_root}`, async () => {
    const [one, other, again] = [await userOf('one'), await userOf('other'), await userOf('one')];
    expect(one).toBe(again);
    expect(new Set([one, other, 0, 65_534]).size).toBe(4);
  });

  test('a file without permission for others cannot be read', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'reach-'));
    await chmod(directory, 0o755);
    const file = join(directory, 'open');
    await writeFile(file, 'of somebody else', { mode: 0o644 });
    const answer = await attack(`
try: print(open(${JSON.stringify(file)}).read())
except OSError as error: print(errno.errorcode[error.errno])`);
    await rm(directory, { recursive: true });
    // In a sandbox it is not there; at the level process Landlock refuses it, although everybody may read it.
    expect(answer).toMatch(/^(ENOENT|EACCES)$/);
  });

  test('files outside its own directories cannot be written', async () => {
    const places = ['/tmp', '/var/tmp', '/dev/shm', '/run', '/usr', '/etc', '/'];
    const answer = await attack(`
for place in ${JSON.stringify(level === 'process' ? places : places.filter((each) => !/^\/(tmp|dev\/shm)/.test(each)))}:
    try:
        open(place + '/reach-test', 'w')
        print(place)
    except OSError: pass
open(os.environ['TMPDIR'] + '/own', 'w')
open('own', 'w')
print('own')`);
    expect(answer).toBe('own');
  });

  test('other processes on the machine cannot be signaled', async () => {
    const answer = await attack(`
try:
    os.kill(${process.pid}, 0)
    print('reached')
except OSError as error: print(errno.errorcode[error.errno])`);
    expect(answer).toMatch(/^(EPERM|ESRCH)$/);
  });
});

describe.each(['bubblewrap', 'namespaces', 'process'] as const)('with containment by %s', (level) => {
  const { works, name } = worksHere(level);
  describe.skipIf(!works)(name, () => {
    let work_dir: string;
    let runner: Runner;
    beforeAll(async () => {
      work_dir = await mkdtemp(join(tmpdir(), 'reach-'));
      const resources = { directory_bytes: 20_000_000 };
      runner = createExecRunner({ work_dir, env: { PATH: '/usr/bin:/bin' }, sandbox_levels: [level], resources });
    });
    afterAll(async () => {
      await runner.close?.();
      await rm(work_dir, { recursive: true });
    });

    test('a work directory that grows beyond its limit ends the run', async () => {
      const fill = 'i=0; while :; do head -c 1000000 /dev/zero > file-$i; i=$((i + 1)); sleep 0.02; done';
      expect(await runner.run(callOf({ cmd: ['sh', '-c', fill] }))).toMatchObject({
        success: false,
        error: expect.stringContaining('20000000 bytes that a work directory may have'),
      });
    });

    test('deleted files that are still open count as well', async () => {
      const hide = 'exec 9> hidden; rm hidden; head -c 30000000 /dev/zero >&9; sleep 60';
      expect(await runner.run(callOf({ cmd: ['sh', '-c', hide] }))).toMatchObject({
        success: false,
        error: expect.stringContaining('that a work directory may have'),
      });
    });

    // A separate worker, because only a started process can inherit descriptors.
    test('descriptors that the worker inherited are not open in a tool', async () => {
      const secret = openSync('/etc/passwd', 'r');
      const inherited = Array.from({ length: 30 }, () => secret);
      // The last one is what lists them.
      expect(await inWorker({ work_dir, level, inherited }, ['ls', '/proc/self/fd'])).toBe('0\n1\n2\n3\n');
    });

    test.skipIf(level !== 'process')(
      'a tool with the user of the worker reaches neither it nor a terminal',
      async () => {
        const own = await mkdtemp(join(tmpdir(), 'reach-'));
        const user = is_root ? { uid: 54_321, gid: 54_321 } : {};
        if (is_root) await chown(own, 54_321, 54_321);
        const attack = `
import os, sys
def tried(attempt):
    try: attempt()
    except OSError as error: return error.strerror
    return 'reached'
worker, init = int(sys.argv[1]), os.getppid()
for whom in (worker, init):
    print(tried(lambda: os.setpriority(os.PRIO_PROCESS, whom, 19)), tried(lambda: os.sched_setaffinity(whom, {0})))
print(tried(lambda: os.kill(-1, 0)), tried(lambda: os.kill(init, 0)))
print(tried(lambda: os.listdir('/dev/pts')), tried(lambda: os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)))`;
        const output = await inWorker({ work_dir: own, level, ...user }, ['/usr/bin/python3', '-c', attack, 'WORKER']);
        await rm(own, { recursive: true });
        const [refused, denied] = ['Operation not permitted', 'Permission denied'];
        expect(output.split('\n').slice(0, 3)).toEqual(Array(3).fill(`${refused} ${refused}`));
        expect(output.split('\n')[3]).toBe(`${denied} ${denied}`);
      },
    );
  });
});

type Worker = { work_dir: string; level: string; inherited?: number[]; uid?: number; gid?: number };

/** What a command prints in a worker that is a process of its own. The argument WORKER becomes the number of that process. */
const inWorker = async ({ work_dir, level, inherited = [], ...user }: Worker, cmd: string[]): Promise<string> => {
  const worker = `
    import { createRedactor } from '@capstan/redact';
    import { createExecRunner } from './dist/exec/create-exec-runner.js';
    const [work_dir, level, ...cmd] = process.argv.slice(1);
    const runner = createExecRunner({ work_dir, sandbox_levels: [level] });
    const { payload } = await runner.run({
      tenant: 'acme',
      descriptor: { tool_id: 'shell.run', risk: 'LOW', effects: {}, binding: { kind: 'native' } },
      inputs: { cmd: cmd.map((word) => (word === 'WORKER' ? String(process.pid) : word)) },
      limits: { timeout_ms: 60000, max_output_bytes: 1000, shell: true },
      signal: new AbortController().signal,
      redact: createRedactor({ values: [] }),
      log: () => {},
      beforeEffect: () => {},
    });
    process.stdout.write(payload.stdout);
    await runner.close();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', worker, work_dir, level, ...cmd], {
    cwd: join(import.meta.dirname, '../../..'),
    stdio: ['ignore', 'pipe', 'inherit', ...inherited],
    ...user,
  });
  return child.stdout === null ? '' : await text(child.stdout);
};
