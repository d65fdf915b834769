import { Failure } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { formatPolicy } from './format-policy.js';
import { parsePolicy } from './parse-policy.js';

const refusal = (source: unknown) => {
  try {
    parsePolicy(source);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'POLICY_INVALID') return error.message;
    throw error;
  }
  return null;
};

const rule = (text: string) => `rules:\n  - id: a\n    effect: allow\n    ${text}\n`;

describe('a YAML document with a mistake is refused with line and column', () => {
  test.each([
    ['boundary: allow', /^line 1, column 11: boundary: /],
    ['ruls: []', /^line 1, column 1: ruls: is not a known field$/],
    [rule('wen: 1'), /^line 4, column 5: rules\.0\.wen: is not a known field$/],
    [rule('match: { runner: [exec, foo] }'), /^line 4, column 29: rules\.0\.match\.runner\.1: /],
    [rule('match: { risk_max: HUGE }'), /^line 4, column 24: rules\.0\.match\.risk_max: /],
    [
      rule('if: "inputs.a >"'),
      /^line 4, column 9: rules\.0\.if: it ends too early: a value is missing \(column 11 of the condition\)$/,
    ],
    [rule('if: "other.a"'), /rules\.0\.if: there is no variable other/],
    [rule('if: "size(inputs)"'), /gives int, and has to give true or false/],
    [rule('approvals: { required: 2 }'), /^line 4, column 5: rules\.0\.approvals: only a rule that holds/],
    [
      'rules:\n  - { id: a, effect: allow }\n  - { id: a, effect: hold }',
      /^line 3, column 11: rules\.1\.id: there is another/,
    ],
    ['tools:\n  fs.read: { alow_paths: [] }', /^line 2, column 14: tools\.fs\.read\.alow_paths: /],
    ['tools:\n  fs.read: {}\n  fs_read: {}', /^line 3, column 3: tools\.fs_read: is another spelling of fs\.read/],
    ['risk:\n  MAX: {}', /^line 2, column 3: risk\.MAX/],
    ['a: [', /^line 1, column 5: /],
    ['a: 1\na: 2', /^line 2, column 1: the document: duplicate key/],
    ['', /the document: /],
    ['{}', /the document: is empty/],
    ['- 1', /the document: /],
  ])('%j', (source, message) => {
    expect(refusal(source)).toMatch(message);
  });
  test('with exponentially many aliases', () => {
    const levels = Array.from({ length: 12 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`);
    expect(refusal(['a0: &a0 [x]', ...levels].join('\n'))).toMatch(/alias/);
  });
});

test('a document that was already parsed is refused with the field', () => {
  expect(refusal({ boundary: 'deny_by_default', ruls: [] })).toBe('ruls: is not a known field');
  expect(refusal(null)).toMatch(/^the document: /);
  expect(refusal({ rules: [{ id: 'a\0', effect: 'allow' }] })).toMatch(/^rules\.0\.id: must not contain NUL/);
});

test('a document is kept as sent, so that its hash is that of the text', () => {
  const sent = { tools: { 'fs.read': { allow_paths: ['./**'] } }, max_calls_per_tool: 3 };
  expect(parsePolicy(sent)).toEqual(sent);
});

test('a policy formatted as YAML can be parsed again', () => {
  const document = parsePolicy(rule('if: "inputs.a > 3"'));
  expect(parsePolicy(formatPolicy({ text: null, document }))).toEqual(document);
  expect(formatPolicy({ text: '# ours\nrules: []\n', document: { rules: [] } })).toBe('# ours\nrules: []\n');
});
