import { expect, test } from 'vitest';
import { CapstanError } from '../errors.js';
import { UnreachableError } from '../unreachable-error.js';
import { Outgoing } from './outgoing.js';

const problem = (status: number, code: number) =>
  new CapstanError({ type: 'about:blank', title: 'no', status, detail: 'no', code, suggestion: '' });
const cut = () => new UnreachableError('http://127.0.0.1', Object.assign(new Error('reset'), { code: 'ECONNRESET' }));

/** Sends to somebody who answers by `answer`; gives what arrived and what was refused. */
async function send(numbers: readonly number[], answer: (batch: readonly number[]) => Error | null) {
  const arrived: number[] = [];
  const refused: number[] = [];
  const outgoing = new Outgoing<number>({
    send: async (batch) => {
      const error = answer(batch);
      if (error) throw error;
      arrived.push(...batch);
    },
    onError: () => {},
    onRefused: (one) => void refused.push(one),
  });
  for (const one of numbers) outgoing.add(one);
  await outgoing.idle();
  return { arrived, refused };
}

test('what was under way when the connection was lost is sent again', async () => {
  let cuts = 1;
  expect(await send([1, 2], () => (cuts-- > 0 ? cut() : null))).toEqual({ arrived: [1, 2], refused: [] });
});

test('one that is refused does not take with it what was sent together with it', async () => {
  for (const refusal of [problem(413, 0), problem(400, 3002), problem(422, 2002)]) {
    const result = await send([1, 2, 3], (batch) => (batch.includes(2) ? refusal : null));
    expect(result).toEqual({ arrived: [1, 3], refused: [2] });
  }
});

test.each([
  ['a proxy that does not reach the gateway', problem(502, 0)],
  ['a proxy that knows no such path', problem(404, 0)],
  ['a gateway without its database', problem(503, 5001)],
  ['a gateway that does not know the key any more', problem(401, 6001)],
])('what is turned away by %s is sent again, and not taken for refused', async (_, error) => {
  let failures = 1;
  expect(await send([1, 2], () => (failures-- > 0 ? error : null))).toEqual({ arrived: [1, 2], refused: [] });
});

test('one that the gateway fails on is sent again after the others', async () => {
  let failures = 2;
  const result = await send([1, 2, 3], (batch) => (batch.includes(1) && failures-- > 0 ? problem(500, 5000) : null));
  expect(result).toEqual({ arrived: [2, 3, 1], refused: [] });
});
