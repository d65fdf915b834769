import { createRedactor } from '@capstan/redact';
import { expect, test } from 'vitest';
import { callLog } from './call-log.js';

const heard = (pieces: string[], max_output_bytes = 10_000) => {
  const lines: string[] = [];
  const log = (_stream: string, text: string) => void lines.push(text);
  const { hear, end } = callLog({ log, limits: { timeout_ms: 1, max_output_bytes } }, createRedactor({ values: [] }));
  for (const piece of pieces) hear('stderr', piece);
  end();
  return lines;
};

test('a key of several lines that arrives in many pieces is redacted', () => {
  const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj'.repeat(2);
  const key = ['-----BEGIN PRIVATE KEY-----\n', `${body}\n`, '-----END PRIVATE KEY-----\n'];
  const said = heard(['before\n', ...key, 'after\n']).join('');
  expect(said).not.toContain(body.slice(0, 20));
  expect(said).toMatch(/^before\n[\s\S]*\nafter\n$/);
});

test('a line is written as soon as it is complete', () => {
  expect(heard(['one\ntw', 'o\n'])).toEqual(['one\n', 'two\n']);
});

test('output beyond the limit is left out, which is reported once', () => {
  expect(heard(['1234\n', '5678\n', '9\n'], 8)).toEqual(['1234\n', '[the rest of the log is left out]\n']);
});
