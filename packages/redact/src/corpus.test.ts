import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createRedactor } from './create-redactor.js';

type Case = { rule: string; kind: 'tp' | 'fp'; text: string };

const CORPUS = new URL('../../../../shared/corpora/secrets/gitleaks-cases.json.gz', import.meta.url);
const cases: Case[] = existsSync(CORPUS) ? JSON.parse(gunzipSync(readFileSync(CORPUS)).toString()) : [];
const redactor = createRedactor({ values: [] });

describe.skipIf(cases.length === 0)('the cases of other projects (NOT TESTED if the corpus is absent)', () => {
  const secrets = cases.filter(({ kind }) => kind === 'tp');
  const harmless = cases.filter(({ kind }) => kind === 'fp');

  test('every secret is redacted, in one piece and split at any byte', () => {
    for (const { rule, text } of secrets) {
      const whole = redactor.text(text);
      expect(whole, rule).toContain('[REDACTED]');
      const bytes = Buffer.from(text);
      // The longest cases are uniform, so not every position is tested.
      const step = bytes.length > 1000 ? 5 : 1;
      for (let cut = 0; cut <= bytes.length; cut += step) {
        const { push, end } = redactor.stream();
        const decoder = new TextDecoder();
        const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)].map((piece) =>
          push(decoder.decode(piece, { stream: true })),
        );
        expect(pieces.join('') + end(), `${rule} cut at ${cut}`).toBe(whole);
      }
    }
  });

  test('at most one in twenty harmless look-alikes is altered', () => {
    const altered = harmless.filter(({ text }) => redactor.text(text) !== text);
    expect(altered.length / harmless.length, JSON.stringify(altered)).toBeLessThanOrEqual(0.05);
  });

  test('every case gives the same output in one piece and character by character', () => {
    for (const { text, rule } of cases) {
      const { push, end } = redactor.stream();
      expect(Array.from(text).map(push).join('') + end(), rule).toBe(redactor.text(text));
    }
  });
});
