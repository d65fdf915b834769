import { expect, test } from 'vitest';
import { createLog } from './log.js';

test('an error is logged with its message, code and stack, and without the fields that its library added', () => {
  const lines: string[] = [];
  const take = (line: string) => {
    lines.push(line);
    return '';
  };
  const error = Object.assign(new TypeError('WRONGPASS'), {
    code: 'ERR_REPLY',
    command: { name: 'hello', args: ['3', 'AUTH', 'default', 'a-password'] },
    detail: 'Key (name)=(a-password) already exists.',
  });
  createLog('test', 'info', { redact: take }).warn({ err: error }, 'queue connection error');
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    service: 'test',
    msg: 'queue connection error',
    err: { type: 'TypeError', message: 'WRONGPASS', stack: expect.stringContaining('log.test'), code: 'ERR_REPLY' },
  });
});
