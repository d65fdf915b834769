import { expect, test } from 'vitest';
import type { Call, End, Operated } from './history.js';
import { judgeHistory } from './judge-history.js';

const POST: Call = { key: 'k', tool: 'post', held: false };
const GET: Call = { ...POST, tool: 'get' };
const did = (op: Operated['op'], at: number, more: Partial<Operated> = {}): Operated => ({
  ...{ op, at, began: at - 5, key: 'k', outcome: 'ok' },
  ...more,
});
const SUBMITTED = did('submit', 100, { invocation_id: 'inv_1', status: 'queued' });
const RAN = [did('start', 1_000), did('answer', 1_010)];
const ended = (more: Partial<End> = {}): End => ({
  ...{ key: 'k', invocation_id: 'inv_1', status: 'succeeded', attempt: 1, finished_at: 1_020 },
  ...{ result_fits: true, verified: true },
  ...more,
});
const judge = (call: Call, operations: Operated[], ends: End[]) =>
  judgeHistory({ calls: [call], operations, ends }).map(({ kind, text }) => `${kind}: ${text}`);

test('a call that was submitted, ran once and succeeded is no violation', () => {
  expect(judge(POST, [SUBMITTED, ...RAN], [ended()])).toEqual([]);
});

test('a submission that was refused, or whose answer is unknown, may leave nothing behind', () => {
  expect(judge(POST, [did('submit', 100, { outcome: 'failed' })], [])).toEqual([]);
  expect(judge(POST, [did('submit', 100, { outcome: 'unknown' })], [])).toEqual([]);
});

test('a call that was accepted and is gone is lost', () => {
  expect(judge(POST, [SUBMITTED], [])).toEqual(['lost: inv_1 was accepted and is gone']);
});

test('two invocations with one idempotency key are doubled', () => {
  expect(judge(POST, [SUBMITTED, ...RAN], [ended(), ended({ invocation_id: 'inv_2' })])).toEqual([
    'doubled: one idempotency key became inv_1 and inv_2',
  ]);
});

test('a second run of a call that may not be repeated is doubled', () => {
  expect(judge(POST, [SUBMITTED, did('start', 900), ...RAN], [ended({ attempt: 2 })])).toEqual([
    'doubled: it may not be repeated and ran 2 times; 1 allowed',
  ]);
});

test('a redrive by a person allows a second run', () => {
  const again = [did('redrive', 1_500), did('start', 1_600), did('answer', 1_610)];
  expect(judge(POST, [SUBMITTED, ...RAN, ...again], [ended({ attempt: 2, finished_at: 1_620 })])).toEqual([]);
});

test('a tool that reported a failure may be called again', () => {
  const refused = [did('start', 900), did('answer', 910, { outcome: 'failed' })];
  expect(judge(POST, [SUBMITTED, ...refused, ...RAN], [ended({ attempt: 2 })])).toEqual([]);
});

test('a repeated run that is on record is no violation, and one that is not on record is doubled', () => {
  const twice = [SUBMITTED, did('start', 900), ...RAN];
  expect(judge(GET, twice, [ended({ attempt: 2 })])).toEqual([]);
  expect(judge(GET, twice, [ended({ attempt: 1 })])).toEqual(['doubled: it ran 2 times, and 1 attempts are on record']);
});

test('a run of a call that nobody submitted, or that is not on record, is unexpected', () => {
  expect(judgeHistory({ calls: [], operations: RAN, ends: [] })).toMatchObject([{ kind: 'unexpected', key: 'k' }]);
  expect(judge(POST, [did('submit', 100, { outcome: 'unknown' }), ...RAN], [])).toEqual([
    'unexpected: it ran and is not on record',
  ]);
});

test('a success without an answer from the tool is unexpected', () => {
  expect(judge(POST, [SUBMITTED], [ended()])).toEqual(['unexpected: it ended succeeded, but its tool never answered']);
});

test('a failure that the tool did not report is unexpected, because an unknown outcome has to be ambiguous', () => {
  const cut = [SUBMITTED, did('start', 1_000), did('answer', 1_010, { outcome: 'unknown' })];
  expect(judge(POST, cut, [ended({ status: 'failed' })])).toEqual([
    'unexpected: it ended failed, but its tool never said so',
  ]);
  expect(judge(POST, cut, [ended({ status: 'ambiguous' })])).toEqual([]);
});

test('an ambiguous end of a call that may be repeated is unexpected', () => {
  expect(judge(GET, [SUBMITTED], [ended({ status: 'ambiguous' })])).toEqual([
    'unexpected: it ended ambiguous, but it may be repeated',
  ]);
});

test('an end that no operation can have caused is unexpected', () => {
  for (const status of ['canceled', 'rejected', 'expired', 'denied', 'timed_out'] as const)
    expect(judge(POST, [SUBMITTED], [ended({ status })]), status).toMatchObject([
      expect.stringContaining(`unexpected: it ended ${status}, but`),
    ]);
});

test('a held call that ran before anybody approved it is unexpected', () => {
  const held = { ...POST, held: true };
  const early = [SUBMITTED, ...RAN, did('vote', 2_000)];
  expect(judge(held, early, [ended()])).toEqual(['unexpected: it ran before anybody agreed']);
  expect(judge(held, [SUBMITTED, did('vote', 500), ...RAN], [ended()])).toEqual([]);
});

test('a call with the result of another call is unexpected', () => {
  expect(judge(POST, [SUBMITTED, ...RAN], [ended({ result_fits: false })])).toEqual([
    'unexpected: its result is that of another call',
  ]);
});

test('a run that began after the call had ended is late', () => {
  const operations = [SUBMITTED, did('start', 9_000), did('answer', 9_010)];
  expect(judge(POST, operations, [ended({ status: 'ambiguous' })])).toEqual([
    'late: it began 7980 ms after it had ended ambiguous',
  ]);
});

test('a run that began after its cancellation was confirmed is late', () => {
  const operations = [SUBMITTED, did('cancel', 500, { status: 'canceled' }), ...RAN];
  expect(judge(POST, operations, [ended({ status: 'canceled' })])).toEqual([
    'late: it began after its cancellation was confirmed',
  ]);
});

test('a call that has not ended is stuck', () => {
  expect(judge(POST, [SUBMITTED], [ended({ status: 'running', finished_at: null })])).toEqual([
    'stuck: it is still running',
  ]);
});

test('a record that does not verify is unverified', () => {
  expect(judge(POST, [SUBMITTED, ...RAN], [ended({ verified: false })])).toEqual([
    'unverified: its record does not verify',
  ]);
});
