import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { buildFilter } from '../seccomp/build-filter.js';
import type { Architecture } from '../seccomp/refused-calls.js';
import { worksHere } from '../testing/works-here.js';
import { arm64 } from './arm64.js';
import { assemble, type Step } from './assembler.js';
import { buildElf } from './build-elf.js';
import { type InitOptions, initProgram } from './init-program.js';
import { x64 } from './x64.js';

const directory = mkdtempSync(join(tmpdir(), 'init-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Encodings from the manuals of the architectures. */
const KNOWN: readonly [Step, x64: string, arm64: string][] = [
  [{ op: 'set', to: 'a', from: 5 }, '48c7c305000000', 'b30080d21300a0f2'],
  [{ op: 'set', to: 'c', from: -1 }, '49c7c4ffffffff', '15008092f5ffbff2'],
  [{ op: 'stack_pointer', to: 'a' }, '4889e3', 'f3030091'],
  [{ op: 'add', to: 'f', value: 1 }, '4981c701000000', '18070091'],
  [{ op: 'add', to: 'd', value: 'a' }, '4901dd', 'd602138b'],
  [{ op: 'negate', to: 'd' }, '49f7dd', 'f60316cb'],
  [{ op: 'shift_left', to: 'f', bits: 3 }, '49c1e703', '18f37dd3'],
  [{ op: 'shift_right', to: 'c', bits: 8 }, '49c1ec08', 'b5fe48d3'],
  [{ op: 'keep_low', to: 'd', bits: 7 }, '4981e57f000000', 'd61a40d3'],
  [{ op: 'load', to: 'c', base: 'c', offset: 0, bytes: 4 }, '458ba42400000000', 'b50240b9'],
  [{ op: 'load', to: 'a', base: 'f', offset: 0, bytes: 1 }, '490fb69f00000000', '13034039'],
  [{ op: 'store', from: 'd', base: 'e', offset: 8 }, '4589ae08000000', 'f60a00b9'],
];

test.each(KNOWN)('%j is encoded as the architectures define it', (step, on_x64, on_arm64) => {
  expect(assemble([step], x64, () => 0).toString('hex')).toBe(on_x64);
  expect(assemble([step], arm64, () => 0).toString('hex')).toBe(on_arm64);
});

const RUNS: readonly { architecture: Architecture; through: string[] }[] = [
  { architecture: 'x64', through: [] },
  { architecture: 'arm64', through: process.arch === 'arm64' ? [] : ['/usr/bin/qemu-aarch64-static'] },
];

describe.each(RUNS)('init for $architecture', ({ architecture, through }) => {
  const [emulator] = through;
  const runs = process.platform === 'linux' && (emulator ? existsSync(emulator) : process.arch === architecture);
  const name = runs ? 'runs' : `NOT TESTED: this is no ${architecture}, and there is no qemu-user-static`;

  const start = (over: Partial<InitOptions>, ...command: string[]) => startIn([], over, ...command);
  const startIn = (around: string[], over: Partial<InitOptions>, ...command: string[]) => {
    // No emulator has seccomp. Filters are tested where they are used.
    const plain = { terminal: false, descriptors: 3, identity: null, limits: [], landlock: null, password: null };
    const options: InitOptions = { ...plain, tree: 'descendants', filter: Buffer.alloc(0), ...over };
    const { steps, data } = initProgram(options, architecture);
    const file = join(directory, `${architecture}-${process.hrtime.bigint()}`);
    writeFileSync(file, buildElf(steps, data, architecture === 'x64' ? x64 : arm64), { mode: 0o755 });
    const [first = file, ...rest] = [...around, ...through, file, ...command];
    return spawnSync(first, rest, { encoding: 'utf8', timeout: 20_000 });
  };

  describe.skipIf(!runs)(name, () => {
    test('exits with the exit code of its tool, or with 128 plus the signal that killed it', () => {
      expect(start({}, '/bin/sh', '-c', 'exit 7').status).toBe(7);
      expect(start({}, '/bin/sh', '-c', 'kill -s SEGV $$').status).toBe(139);
    });

    test.skipIf(emulator !== undefined)(
      'cannot be signaled by its tool, also where both have one user and there is no Landlock',
      () => {
        const filter = buildFilter(architecture, { sockets: 'unix', shares_user: true });
        const attack =
          'for s in KILL STOP; do kill -s $s $PPID; kill -s $s -- -$PPID; done; sleep 60 & kill $!; wait; exit 23';
        expect(start({ filter }, '/bin/sh', '-c', attack).status).toBe(23);
      },
    );

    test('passes arguments, variables and streams on unchanged', () => {
      expect(start({}, '/usr/bin/printf', '%s|', 'a b', '', "'").stdout).toBe("a b||'|");
    });

    test('sets the resource limits of its tool', () => {
      expect(start({ limits: [[7, 33]] }, '/bin/sh', '-c', 'ulimit -n').stdout).toBe('33\n');
    });

    test('reports a program that cannot be executed', () => {
      expect(start({}, '/nowhere')).toMatchObject({
        status: 126,
        stderr: expect.stringContaining('could not be executed'),
      });
    });

    // In a namespace created for this test: if `init` does not refuse, it can kill only what is in there.
    const walls = worksHere('namespaces');
    test.skipIf(!walls.works)(`refuses to run in a namespace in which it is not pid 1: ${walls.name}`, () => {
      const inside = ['unshare', '--user', '--map-current-user', '--pid', '--fork', '/bin/sh', '-c'];
      const { stdout } = startIn([...inside, '"$@"; echo $?', 'sh'], { tree: 'namespace' }, '/bin/true');
      expect(stdout).toBe('125\n');
    });
  });
});
