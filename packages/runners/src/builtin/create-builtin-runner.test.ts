import type { JsonObject } from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import { describe, expect, test } from 'vitest';
import { testCall, testDescriptor } from '../testing/test-call.js';
import { createBuiltinRunner } from './create-builtin-runner.js';

const SUMMER = new Date('2024-07-15T22:30:45.678Z');
const WINTER = new Date('2024-01-15T22:30:45.678Z');

const run = (tool_id: string, inputs: JsonObject, now = SUMMER) =>
  createBuiltinRunner({ clock: () => now }).run(testCall(testDescriptor({ tool_id }), { inputs }));

test('an answer that is too large is truncated after redaction', () => {
  const limits = { timeout_ms: 1000, max_output_bytes: 20 };
  const redact = createRedactor({ values: ['correct-horse-battery'] });
  const call = testCall(testDescriptor({ tool_id: 'cap:noop:noop' }), {
    inputs: { text: 'xxx correct-horse-battery' },
    limits,
    redact,
  });
  const outcome = createBuiltinRunner().run(call);
  expect(outcome).toMatchObject({ success: true, truncated: true });
  expect(JSON.stringify(outcome)).not.toContain('corr');
});

describe('get_current_time', () => {
  const time = (inputs: JsonObject, now?: Date) => run('cap:current_time:get_current_time', inputs, now);

  test('returns UTC as RFC 3339 by default, synchronously', () => {
    expect(time({})).toEqual({
      success: true,
      payload: { time: '2024-07-15T22:30:45.678Z', timezone: 'UTC', format: 'iso8601' },
    });
  });

  test.each([
    ['Europe/Berlin', SUMMER, '2024-07-16T00:30:45.678+02:00'],
    ['Europe/Berlin', WINTER, '2024-01-15T23:30:45.678+01:00'],
    ['America/New_York', SUMMER, '2024-07-15T18:30:45.678-04:00'],
    ['America/St_Johns', WINTER, '2024-01-15T19:00:45.678-03:30'],
    ['Asia/Kathmandu', SUMMER, '2024-07-16T04:15:45.678+05:45'],
    ['Pacific/Kiritimati', SUMMER, '2024-07-16T12:30:45.678+14:00'],
    ['Europe/London', WINTER, '2024-01-15T22:30:45.678+00:00'],
    ['Etc/UTC', SUMMER, '2024-07-15T22:30:45.678+00:00'],
  ])('in %s at %s answers %s, which is the same moment', (timezone, now, expected) => {
    expect(time({ timezone }, now)).toMatchObject({ payload: { time: expected, timezone } });
    expect(new Date(expected)).toEqual(now);
  });

  test('supports every time zone', () => {
    for (const timezone of Intl.supportedValuesOf('timeZone')) {
      const outcome = time({ timezone });
      expect(outcome).toMatchObject({ success: true, payload: { timezone } });
      expect(new Date(JSON.parse(JSON.stringify(outcome)).payload.time)).toEqual(SUMMER);
    }
  });

  test('returns whole Unix seconds', () => {
    expect(time({ format: 'unix', timezone: 'Asia/Tokyo' })).toMatchObject({
      payload: { time: 1721082645, timezone: 'Asia/Tokyo', format: 'unix' },
    });
  });

  test('returns words', () => {
    expect(time({ format: 'human', timezone: 'America/New_York' })).toMatchObject({
      payload: { time: expect.stringMatching(/^Monday, July 15, 2024 at 6:30:45\sPM EDT$/) },
    });
  });

  test.each([{ timezone: 'Mars/Olympus' }, { timezone: '' }, { timezone: 1 }, { format: 'rfc822' }, { format: null }])(
    'refuses %j',
    (inputs) => {
      expect(time(inputs)).toMatchObject({ success: false, kind: 'INVALID_INPUTS', retryable: false });
    },
  );
});

describe('test_math', () => {
  test.each([
    ['add', 2, 3, 5],
    ['subtract', 2, 3, -1],
    ['multiply', 2, 3, 6],
    ['divide', 3, 2, 1.5],
    ['multiply', -1, 0, 0],
  ])('%s %d and %d is %d', (tool, a, b, result) => {
    expect(run(`cap:test_math:${tool}`, { a, b })).toStrictEqual({ success: true, payload: { result } });
  });

  test.each([1, 0, -1])('%d divided by zero fails', (a) => {
    expect(run('cap:test_math:divide', { a, b: 0 })).toEqual({
      success: false,
      error: 'Division by zero',
      kind: 'TOOL_ERROR',
      retryable: false,
    });
  });

  test.each([
    ['add', 1.7e308, 1.7e308],
    ['multiply', 1e200, -1e200],
    ['divide', 1e308, 1e-10],
  ])('a result that is not a finite number fails: %s %d and %d', (tool, a, b) => {
    expect(run(`cap:test_math:${tool}`, { a, b })).toMatchObject({
      success: false,
      kind: 'TOOL_ERROR',
      retryable: false,
    });
  });

  test.each([{}, { a: 1 }, { a: '1', b: 2 }, { a: null, b: 2 }])('refuses %j', (inputs) => {
    expect(run('cap:test_math:add', inputs)).toMatchObject({
      success: false,
      kind: 'INVALID_INPUTS',
      retryable: false,
    });
  });
});

test.each(['cap:test_math:power', 'toString', '__proto__', ''])('the tool %j is unknown', (tool_id) => {
  expect(run(tool_id, {})).toMatchObject({ success: false, kind: 'UNKNOWN_TOOL', retryable: false });
});
