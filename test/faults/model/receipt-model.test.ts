import { expect, test } from 'vitest';
import { explore } from './explore.js';
import { PROTOCOL, receiptModel } from './receipt-model.js';

test.each(['waiting', 'delivered'] as const)(
  'the receipt protocol, with calls that are %s at first, loses, doubles and strands none in any interleaving',
  (begin) => {
    const { states, counterexample } = explore(receiptModel({ ...PROTOCOL, begin }));
    expect(counterexample).toBeNull();
    expect(states).toBeGreaterThan(5_000);
  },
);

test('with rescue merged into one statement, the exploration prints how a call is put back after its result', () => {
  const { counterexample } = explore(receiptModel({ ...PROTOCOL, begin: 'waiting', rescue: 'one statement' }));
  expect(counterexample).toEqual({
    violation: 'doubled: a has ended and waits for a worker',
    steps: [
      'worker 1 begins to take',
      'worker 1 takes a and b as receipt/1',
      'worker 1 runs a',
      'worker 1 begins to settle',
      'worker 1 locks receipt/1',
      'worker 1 begins to write results',
      'rescuer begins to rescue receipt/1', // its snapshot has no result of a …
      'worker 1 commits the results of a',
      'rescuer deletes receipt/1', // … and it still looks there after it has waited for the lock
    ],
  });
});

test('with settlements that do not lock the receipt, the exploration finds a call put back beside its result', () => {
  const { counterexample } = explore(receiptModel({ ...PROTOCOL, begin: 'waiting', settle: 'reads the receipt' }));
  expect(counterexample?.violation).toBe('doubled: a has ended and waits for a worker');
});

test('with a receipt that each delivery may own, the exploration finds a second run of a call that may not be repeated', () => {
  const { counterexample } = explore(receiptModel({ ...PROTOCOL, begin: 'delivered', own: 'always' }));
  expect(counterexample?.violation).toBe('doubled: b may not be repeated and ran twice');
});
