import { readFileSync } from 'node:fs';
import type { Json } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { claimByIds } from '../testing/claim-by-ids.js';
import { liveWorker } from '../testing/live-worker.js';
import { newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { settleAndTell } from '../testing/settle-and-tell.js';
import { insertInvocations } from './insert-invocations.js';
import { loadOutcomes } from './load-outcomes.js';
import { listInvocations } from './read-invocations.js';

const store = await openTestStore();
const worker_id = await liveWorker(store);
const list = new URL('../../../../node_modules/big-list-of-naughty-strings/blns.json', import.meta.url);
const naughty: string[] = JSON.parse(readFileSync(list, 'utf8'));

/** Sends every value through Postgres and back, as inputs and as a payload. */
async function roundTrip(values: Json[]) {
  const rows = values.map((value) => newInvocation({ inputs: toInputs(value) }));
  const ids = rows.map((row) => row.invocation_id);
  await insertInvocations(store, rows);
  const claimed = new Map((await claimByIds(store, worker_id, ids)).map((row) => [row.invocation_id, row]));
  const settlements = ids.flatMap((id, at) => {
    const call = claimed.get(id);
    return call ? [newSettlement(call, { result: { payload: values[at] ?? null } })] : [];
  });
  expect(await settleAndTell(store, settlements)).toEqual(rows.map(() => true));
  const outcomes = new Map((await loadOutcomes(store, ids)).map((row) => [row.invocation_id, row]));
  return ids.map((id) => ({ inputs: claimed.get(id)?.inputs, payload: outcomes.get(id)?.result?.payload }));
}

const toInputs = (value: Json) => (typeof value === 'string' ? { value, [value]: value } : { value });
const unchanged = (values: Json[]) => values.map((value) => ({ inputs: toInputs(value), payload: value }));

test.each([
  ['NUL', 'a\u0000b'],
  ['NUL alone', '\u0000'],
  ['text that looks like an escaped NUL', '\\u0000'],
  ['every control character', String.fromCharCode(...Array.from({ length: 32 }, (_, code) => code), 127)],
  ['quotes and backslashes', `'"\\\\'";--$$$1`],
  ['line separators', '\u2028\u2029\ufeff\uffff'],
])('%s comes back as it was', async (_, text) => {
  expect(await roundTrip([text])).toEqual(unchanged([text]));
});

test.each([
  ['numbers at the edges', [5e-324, 1.7976931348623157e308, -0.1, Number.MAX_SAFE_INTEGER + 1, 1e21]],
  ['empty things', [[], {}, '', null, false, 0]],
  ['a member named __proto__', JSON.parse('{"__proto__": {"a": 1}, "constructor": null}')],
])('%s come back as they were', async (_, value: Json) => {
  expect(await roundTrip([value])).toEqual(unchanged([value]));
});

test('null is a valid payload', async () => {
  expect(await roundTrip([null])).toEqual(unchanged([null]));
});

test('hashes are still valid after a round trip through Postgres', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue({ stringUnit: 'binary' }), { minLength: 20, maxLength: 50 }),
      async (values) => {
        const json = values.map((value): Json => JSON.parse(JSON.stringify(value)));
        const back = await roundTrip(json);
        expect(back.map(({ payload }) => hashJson(payload))).toEqual(json.map(hashJson));
        expect(back.map(({ inputs }) => hashJson(inputs))).toEqual(json.map((value) => hashJson(toInputs(value))));
      },
    ),
    { numRuns: 5, endOnFailure: true },
  );
});

describe('the naughty strings', () => {
  test('are all returned unchanged', async () => {
    expect(naughty.length).toBeGreaterThan(400);
    expect(await roundTrip(naughty)).toEqual(unchanged(naughty));
  });

  test('are also found as a session and an error, byte for byte', async () => {
    // Submissions refuse these characters there, and workers replace them.
    const texts = naughty.filter((text) => text !== '' && !text.includes('\u0000') && text.isWellFormed());
    const rows = texts.map((session_id) => newInvocation({ session_id, labels: { naughty: session_id } }));
    await insertInvocations(store, rows);
    const ids = rows.map((row) => row.invocation_id);
    const errors = new Map(rows.map((row, at) => [row.invocation_id, texts[at] ?? '']));
    const settlements = (await claimByIds(store, worker_id, ids)).map((call) =>
      newSettlement(call, { status: 'failed', error: errors.get(call.invocation_id) ?? '' }),
    );
    await settleAndTell(store, settlements);
    const { items } = await listInvocations(store.db, 'acme', { label: ['naughty'] }, { limit: 1000 });
    const found = items.toReversed();
    expect(found.map((invocation) => invocation.session_id)).toEqual(texts);
    expect(found.map((invocation) => invocation.labels.naughty)).toEqual(texts);
    expect(found.map((invocation) => invocation.result?.error)).toEqual(texts);
  });
});
