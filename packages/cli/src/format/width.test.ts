import { describe, expect, it } from 'vitest';
import { cut, cutStart, fill, widthOf, wrapProse } from './width.js';

describe('the width of a text on a terminal', () => {
  it.each([
    ['plain', 5],
    ['├─ ✓ …', 6],
    ['日本語', 6],
    ['한글', 4],
    ['ｆｕｌｌ', 8],
    ['👍', 2],
    ['👍🏽', 2],
    ['👨‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['⏸', 1],
    ['cafe\u0301', 4],
    ['\u200b', 0],
    ['', 0],
  ])('of %j is %d', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  it('is exactly the width that it was cut to, without splitting characters', () => {
    expect(cut('日本語テキスト', 6)).toBe('日本…');
    expect(cut('日本語', 6)).toBe('日本語');
    expect(cut('a👨‍👩‍👧b👨‍👩‍👧c', 5)).toBe('a👨‍👩‍👧b…');
    expect([cut('text', null), cut('text', 1), cut('text', 0)]).toEqual(['text', '…', '']);
  });

  it('is cut at the start if the end is more informative', () => {
    expect(cutStart('cap:test_math:divide', 8)).toBe('…:divide');
    expect(cutStart('short', 8)).toBe('short');
  });

  it('is padded on either side', () => {
    expect([fill('日本', 6), fill('日本', 6, 'right')]).toEqual(['日本  ', '  日本']);
  });
});

it('breaks prose at spaces, and leaves code and what has no spaces whole', () => {
  const text = `a reason that is longer than a line\n  code: { stays: "as it is, however long" }\nsha256:${'0'.repeat(30)}`;
  expect(wrapProse(text, 2, { tty: true, columns: 24 }).split('\n')).toEqual([
    'a reason that is',
    '  longer than a line',
    '    code: { stays: "as it is, however long" }',
    `  sha256:${'0'.repeat(30)}`,
  ]);
  expect(wrapProse(text, 0, { tty: false, columns: 24 })).toBe(text);
});
