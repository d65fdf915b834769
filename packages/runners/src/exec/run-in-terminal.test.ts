import { expect, test } from 'vitest';
import { callOf, onEachLevel, stdoutOf } from './testing/on-each-level.js';

onEachLevel((exec) => {
  test('a terminal is real, with a name and a size, and typed input is read', async () => {
    const cmd = ['sh', '-c', 'tty; test -t 1 && test -t 2 && stty size; cat'];
    const outcome = await exec.runner.run(callOf({ cmd, tty: true, stdin: 'typed' }));
    expect(outcome).toMatchObject({ success: true, payload: { stderr: '' } });
    // Its echo may stand anywhere among the rest.
    for (const part of [/\/dev\/(console|pts\/\d+)/, /40 120/, /typed[\s\S]*typed/])
      expect(stdoutOf(outcome)).toMatch(part);
  });

  test('a line that a terminal would truncate is refused', async () => {
    const typing = (stdin: string) => exec.runner.run(callOf({ cmd: ['cat'], tty: true, stdin }));
    expect(await typing('x'.repeat(4096))).toMatchObject({ kind: 'INVALID_INPUTS', retryable: false });
    expect(stdoutOf(await typing('x'.repeat(4095)))).toMatch(/x{4095}\r\n$/);
  });
});
