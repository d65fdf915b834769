import { expect, test } from 'vitest';
import { CapstanError } from '../errors.js';
import { UnreachableError } from '../unreachable-error.js';
import { Outgoing } from './outgoing.js';

const refusal = () =>
  new CapstanError({
    type: 'about:blank',
    title: 'too large',
    status: 413,
    detail: 'too large',
    code: 0,
    suggestion: '',
  });
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
  const result = await send([1, 2, 3], (batch) => (batch.includes(2) ? refusal() : null));
  expect(result).toEqual({ arrived: [1, 3], refused: [2] });
});
