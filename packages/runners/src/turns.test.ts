import { expect, test } from 'vitest';
import { createTurns } from './turns.js';

const never = new AbortController().signal;

test('a run beyond the limit waits until another one has ended, and an aborted one does not start', async () => {
  const turns = createTurns(1);
  const began: string[] = [];
  const run = (name: string, until?: Promise<void>) => async () => {
    began.push(name);
    await until;
    return name;
  };
  let end = () => {};
  const until = new Promise<void>((resolve) => {
    end = resolve;
  });
  const stop = new AbortController();
  const first = turns(never, run('first', until));
  const stopped = turns(stop.signal, run('stopped'));
  const last = turns(never, run('last'));
  stop.abort(new Error('canceled'));
  await expect(stopped).rejects.toThrow('canceled');
  expect(began).toEqual(['first']);
  end();
  expect(await Promise.all([first, last])).toEqual(['first', 'last']);
  expect(await turns(never, run('after'))).toBe('after');
});

test('a run that fails lets the next one start', async () => {
  const turns = createTurns(1);
  const failing = turns(never, () => Promise.reject(new Error('no')));
  const next = turns(never, async () => 'next');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('next');
});
