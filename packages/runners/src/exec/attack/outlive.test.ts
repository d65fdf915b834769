import { processesWith } from '@capstan/sandbox/testing';
import { expect, test } from 'vitest';
import { stdoutOf } from '../testing/on-each-level.js';
import { attackEachLevel } from './with-python.js';

let marks = 0;
/** In the command line of what is to be found again. */
const mark = (): string => {
  marks += 1;
  return `outlive-${process.pid}-${marks}`;
};

/** Leaves session, group, environment and descriptors behind, like a daemon that does not want to be found. */
const HIDE = (name: string) => `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 100)
        os.execve('/usr/bin/python3', ['python3', '-c', 'import time; time.sleep(60)', '${name}'], {})
    os._exit(0)
os.wait()
time.sleep(0.2)
`;

/** Everybody may read what is created: version 2, then tag, permissions and id of user, group and others. */
const ACCESS_LIST = '0200000001000700ffffffff04000500ffffffff20000700ffffffff';

attackEachLevel(({ attack, run, level }) => {
  test('no process of a run is left when its end is reported, however it hides', async () => {
    const name = mark();
    expect(await attack(`${HIDE(name)}\nprint('done')`)).toBe('done');
    expect(await processesWith(name)).toEqual([]);
  });

  test('no process of a stopped run is left when its end is reported', async () => {
    const name = mark();
    const controller = new AbortController();
    const script = `import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n${HIDE(name)}\nprint('ready', flush=True)\ntime.sleep(60)`;
    const outcome = await run(['/usr/bin/python3', '-c', script], {
      signal: controller.signal,
      log: () => controller.abort(),
    });
    expect(outcome).toMatchObject({ success: false });
    expect(await processesWith(name)).toEqual([]);
  });

  test('a process that keeps forking does not escape', async () => {
    const name = mark();
    // Each lives for a moment and starts the next, so that a list of processes is old when it is read.
    const answer = await attack(`
# ${name}
for _ in range(20):
    try: child = os.fork()
    except OSError: break
    if child == 0:
        os.setsid()
        end = time.time() + 20
        while time.time() < end:
            if os.fork(): os._exit(0)
            time.sleep(0.001)
        os._exit(0)
time.sleep(0.1)
print('done')`);
    expect(answer).toBe('done');
    for (let look = 0; look < 10; look += 1) expect(await processesWith(name)).toEqual([]);
  });

  test('the parent cannot be starved of the resources it needs to end the run', async () => {
    const name = mark();
    const answer = await attack(`
import resource
first = ${level === 'process' ? 'os.getppid()' : '1'}
for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_NPROC):
    try:
        resource.prlimit(first, limit, (0, 0))
        print('starved')
    except OSError as error: print(errno.errorcode[error.errno])
${HIDE(name)}
print(resource.prlimit(0, resource.RLIMIT_NOFILE, (64, 64))[0] > 0)`);
    expect(answer.split('\n')).toEqual(['EPERM', 'EPERM', 'EPERM', 'EPERM', 'True']);
    expect(await processesWith(name)).toEqual([]);
  });

  test('the parent that reports the exit cannot be taken over', async () => {
    const answers = await attack(`
first = ${level === 'process' ? 'os.getppid()' : '1'}
def tried(attempt):
    try: return attempt()
    except OSError as error: return errno.errorcode[error.errno]
print(call(${process.arch === 'arm64' ? 117 : 101}, 16, first, 0, 0))
print(tried(lambda: open(f'/proc/{first}/mem', 'r+b').fileno()))
print(tried(lambda: open(f'/proc/{first}/environ').read()))
print(tried(lambda: os.listdir(f'/proc/{first}/fd')))
print(tried(lambda: os.readlink(f'/proc/{first}/exe')))
`);
    expect(answers.split('\n')).toEqual([
      'EPERM',
      ...Array.from({ length: 4 }, () => expect.stringMatching(/EACCES|EPERM/)),
    ]);
  });

  test('the reported status is the exit status of the tool', async () => {
    const parent = level === 'process' ? '$PPID' : '1';
    const script = `for s in KILL TERM STOP QUIT ABRT; do kill -s $s ${parent} 2>/dev/null; done; exit 23`;
    expect(await run(['sh', '-c', script])).toMatchObject({ success: false, exit_code: 23 });
  });

  test('each run has its own pipes', async () => {
    const names = new Set<string>();
    for (let index = 0; index < 4; index += 1)
      for (const stream of [1, 2]) names.add(stdoutOf(await run(['readlink', `/proc/self/fd/${stream}`])));
    expect(names.size).toBe(8);
  });

  test('a directory with attributes or access lists of one run is not given to the next', async () => {
    const mark = `
for place in ('.', 'artifacts'):
    os.utime(place, (1, 1))
    for name, value in (('user.note', b'x'), ('system.posix_acl_default', bytes.fromhex('${ACCESS_LIST}'))):
        try: os.setxattr(place, name, value)
        except OSError as error: assert error.errno == errno.ENOTSUP
print(os.getcwd())`;
    const first = await attack(mark);
    const [second, ...left] = (
      await attack("print(os.getcwd(), *os.listxattr('.'), *os.listxattr('artifacts'))")
    ).split(' ');
    expect(left).toEqual([]);
    expect(second).not.toBe(first);
    expect(await attack('print(os.getcwd())')).toBe(second);
  });
});
