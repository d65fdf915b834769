import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BulkSubmission, InvocationFilter, loneInvocationId, loneRunId, MAX_BULK, Submission } from './invocation.js';

const takes = (fields: object) => Submission.safeParse({ tool_id: 'a', ...fields }).success;

describe('a lone run', () => {
  test('has the id of its invocation with another prefix, which can be converted back', () => {
    const id = fc.string({ unit: fc.constantFrom(...'abcXYZ019_-'), minLength: 21, maxLength: 21 });
    fc.assert(
      fc.property(id, (nanoid) => {
        expect(loneRunId(`inv_${nanoid}`)).toBe(`run_${nanoid}`);
        expect(loneInvocationId(loneRunId(`inv_${nanoid}`))).toBe(`inv_${nanoid}`);
        expect(loneRunId(loneInvocationId(`run_${nanoid}`))).toBe(`run_${nanoid}`);
      }),
    );
  });

  test('keeps a prefix that is part of the id', () => {
    expect(loneRunId('inv_inv_run_inv_')).toBe('run_inv_run_inv_');
    expect(loneInvocationId('run_run_inv_run_')).toBe('inv_run_inv_run_');
  });
});

describe('a submission', () => {
  test('needs only a tool', () => {
    expect(Submission.parse({ tool_id: 'cap:test_math:add' })).toEqual({
      tool_id: 'cap:test_math:add',
      inputs: {},
      mode: 'execution',
      priority: 0,
      labels: {},
    });
  });

  test('with an unknown field is refused', () => {
    expect(takes({ timeout: 5 })).toBe(false);
  });

  test.each([
    { inputs: [] },
    { inputs: null },
    { inputs: 'a=1' },
    { mode: 'rehearsal' },
    { priority: 0.5 },
    { priority: 1_000_001 },
    { priority: -1_000_001 },
    { timeout_ms: 0 },
    { delay_ms: -1 },
    { run_at: 'tomorrow' },
    { expires_in_ms: 0 },
    { max_attempts: 0 },
    { max_attempts: 101 },
    { spec_hash: 'sha256:abc' },
    { webhook_url: 'ftp://example.org/' },
    { webhook_url: 'javascript:alert(1)' },
    { idempotency_key: '' },
  ])('with %o is refused', (fields) => {
    expect(takes(fields)).toBe(false);
  });

  test.each([
    { priority: 1_000_000 },
    { priority: -1_000_000 },
    { delay_ms: 0 },
    { run_at: '2026-01-01T00:00:00+02:00' },
    { session_id: '漢字 👩‍👩‍👧 ünïcödé' },
    { labels: { team: '' } },
  ])('with %o is accepted', (fields) => {
    expect(takes(fields)).toBe(true);
  });

  test('has names of at most 255 characters and at most 64 labels', () => {
    const labels = (length: number) => Object.fromEntries(Array.from({ length }, (_, index) => [`label${index}`, '']));
    expect([255, 256].map((length) => takes({ idempotency_key: 'x'.repeat(length) }))).toEqual([true, false]);
    expect([64, 65].map((length) => takes({ labels: labels(length) }))).toEqual([true, false]);
  });

  // These become text or jsonb in Postgres, which can store neither. Only `inputs` are stored as sent.
  describe.each([
    { what: 'NUL', text: 'a\u0000b' },
    { what: 'half of a surrogate pair', text: 'a\ud800b' },
  ])('with $what', ({ text }) => {
    test('in its session is refused', () => expect(takes({ session_id: text })).toBe(false));
    test('in its idempotency key is refused', () => expect(takes({ idempotency_key: text })).toBe(false));
    test('in the name of a label is refused', () => expect(takes({ labels: { [text]: '' } })).toBe(false));
    test('in a label is refused', () => expect(takes({ labels: { team: text } })).toBe(false));
  });

  test('with NUL in its inputs is accepted', () => {
    expect(takes({ inputs: { 'a\u0000b': 'a\u0000b' } })).toBe(true);
  });
});

test('a bulk submission has at least one and at most MAX_BULK items', () => {
  const bulk = (length: number) =>
    BulkSubmission.safeParse({ invocations: Array.from({ length }, () => ({})) }).success;
  expect([0, 1, MAX_BULK, MAX_BULK + 1].map(bulk)).toEqual([false, true, true, false]);
});

test('a filter accepts one or several values of repeatable fields, and no unknown fields', () => {
  expect(InvocationFilter.parse({ status: 'queued', label: 'a' })).toEqual({ status: ['queued'], label: ['a'] });
  expect(InvocationFilter.parse({ status: ['queued', 'held'] })).toEqual({ status: ['queued', 'held'] });
  expect(InvocationFilter.safeParse({ state: 'queued' }).success).toBe(false);
});
