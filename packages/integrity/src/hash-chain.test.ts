import { expect, test } from 'vitest';
import { chainOf } from './hash-chain.js';
import { hashJson } from './hash-json.js';

test('a hash is the SHA-256 of the canonical text', () => {
  expect(hashJson({})).toBe('sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  expect(hashJson({ b: 1, a: 2 })).toBe(hashJson({ a: 2, b: 1 }));
});

const entries = [{ n: 1 }, { n: 2 }, { n: 3 }];
const last = (subject: string, items: unknown[]) => chainOf(subject, items).at(-1);

test.each([
  ['changed', [{ n: 1 }, { n: 9 }, { n: 3 }]],
  ['dropped', [{ n: 1 }, { n: 3 }]],
  ['reordered', [{ n: 2 }, { n: 1 }, { n: 3 }]],
])('a %s entry changes the last link', (_, tampered) => {
  expect(last('run_1', tampered)).not.toBe(last('run_1', entries));
});

test('the same entries in another run give a different chain', () => {
  expect(last('run_2', entries)).not.toBe(last('run_1', entries));
});
