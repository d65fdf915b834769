import type { Limits } from '@capstan/contracts';
import { expect, test } from 'vitest';
import { stdoutOf } from '../testing/on-each-level.js';
import { attackEachLevel } from './with-python.js';

const limits: Limits = {
  timeout_ms: 30_000,
  max_output_bytes: 100_000,
  shell: true,
  sandbox: 'preferred',
  exec_once: 'required',
};
const [EXECVE, EXECVEAT] = process.arch === 'arm64' ? [221, 281] : [59, 322];

attackEachLevel(({ run, attack, level }) => {
  test('a program that may not start others cannot start one with any system call', async () => {
    const script = `
import ctypes, errno, os, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def tried(attempt):
    try: return attempt()
    except OSError as error: return errno.errorcode[error.errno]
def raw(number, *args):
    return errno.errorcode.get(ctypes.get_errno(), '?') if libc.syscall(number, *args) == -1 else 'started'
argv = (ctypes.c_char_p * 2)(b'true', None)
print(tried(lambda: os.execv('/bin/true', ['true'])))
print(tried(lambda: subprocess.run(['/bin/true']).returncode))
print(tried(lambda: os.posix_spawn('/bin/true', ['true'], {})))
print(raw(${EXECVE}, b'/bin/true', argv, None, 0, 0, 0))
print(raw(${EXECVEAT}, -100, b'/bin/true', argv, None, 0))
print(os.waitstatus_to_exitcode(os.system('true')))`;
    const outcome = await run(['/usr/bin/python3', '-c', script], { limits });
    expect(stdoutOf(outcome).trimEnd().split('\n')).toEqual(['EPERM', 'EPERM', 'EPERM', 'EPERM', 'EPERM', '127']);
  });

  test('the program itself runs, and a script with its interpreter', async () => {
    expect(await run(['sh', '-c', 'echo it runs'], { limits })).toMatchObject({ payload: { stdout: 'it runs\n' } });
    expect(await run(['/usr/bin/ldd', '--version'], { limits })).toMatchObject({ success: true });
  });

  test.skipIf(level === 'process')('the password for the first start cannot be read', async () => {
    const answer = await attack(`
found = os.listdir('/etc/capstan')
for name in found:
    try:
        open('/etc/capstan/' + name, 'rb').read()
        print(name)
    except OSError as error: assert error.errno == errno.EACCES
    try: os.chmod('/etc/capstan/' + name, 0o777)
    except OSError: continue
    print(name)
print(len(found) > 0)`);
    expect(answer).toBe('True');
  });
});
