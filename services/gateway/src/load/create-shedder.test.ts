import { expect, test } from 'vitest';
import { createShedder, type ShedReason } from './create-shedder.js';

function shedder(over: { commit_wait_ms?: number; lag_ms?: number; memory?: number } = {}) {
  const shed: ShedReason[] = [];
  const state = { commit_wait_ms: 0, lag_ms: 0, memory: 0, ...over };
  const { admit } = createShedder({
    max_requests: 2,
    commitWait: () => state.commit_wait_ms,
    strain: { wake: () => {}, lag_ms: () => state.lag_ms, memory: () => state.memory },
    onShed: (reason) => shed.push(reason),
  });
  return { admit, shed, state };
}

test('no more requests are under way than allowed, and one that is answered makes room', () => {
  const { admit, shed } = shedder();
  const answered = admit();
  admit();
  expect(admit).toThrow(expect.objectContaining({ kind: 'OVERLOADED', status: 503 }));
  answered();
  admit();
  expect(shed).toEqual(['requests']);
});

test.each([
  ['commit_wait', { commit_wait_ms: 2500 }],
  ['event_loop', { lag_ms: 1500 }],
  ['memory', { memory: 0.9 }],
] as const)('work is refused because of %s, with a moment to come back', (reason, strain) => {
  const { admit, shed, state } = shedder(strain);
  expect(admit).toThrow(
    expect.objectContaining({
      kind: 'OVERLOADED',
      headers: { 'retry-after': expect.stringMatching(/^[1-3]$/) },
    }),
  );
  expect(shed).toEqual([reason]);
  Object.assign(state, { commit_wait_ms: 0, lag_ms: 0, memory: 0 });
  expect(admit).not.toThrow();
});
