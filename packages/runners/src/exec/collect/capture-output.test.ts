import { createRedactor } from '@capstan/redact';
import { describe, expect, test } from 'vitest';
import { captureOutput } from './capture-output.js';

const TEXT = 'aüβ€😀 AKIAIOSFODNN7EXAMPLE \ufeffz';
const redact = createRedactor({ values: [] });

const capture = (chunks: Uint8Array[], max_output_bytes = 1000) => {
  const logged: string[] = [];
  const { write, end } = captureOutput('stdout', {
    redact,
    log: (_, text) => logged.push(text),
    limits: { timeout_ms: 1, max_output_bytes },
  });
  chunks.forEach(write);
  return { ...end(), logged };
};

describe('captured output', () => {
  test('is the same however it is split into chunks, even within a character', () => {
    const bytes = Buffer.from(TEXT);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(capture([bytes.subarray(0, cut), bytes.subarray(cut)]).text).toBe(redact.text(TEXT));
    }
    expect(capture(Array.from(bytes, (byte) => Uint8Array.of(byte))).text).toBe(redact.text(TEXT));
  });

  test('keeps a byte order mark', () => {
    expect(capture([Buffer.from('\ufeffa')]).text).toBe('\ufeffa');
  });

  test('is truncated between characters, at the limit or just before it, and logged as it is stored', () => {
    const whole = Buffer.from(redact.text(TEXT));
    for (let limit = 1; limit <= whole.length + 1; limit += 1) {
      const { text, truncated, logged } = capture([Buffer.from(TEXT)], limit);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limit);
      expect(Buffer.byteLength(text)).toBeGreaterThan(Math.min(limit, whole.length) - 4);
      expect(whole.toString().startsWith(text)).toBe(true);
      expect(truncated).toBe(limit < whole.length);
      expect(logged.join('')).toBe(text);
    }
  });

  test('is discarded after the limit', () => {
    const { text, truncated, logged } = capture([Buffer.from('123'), Buffer.from('456'), Buffer.from('789')], 4);
    expect({ text, truncated, logged }).toEqual({ text: '1234', truncated: true, logged: ['123', '4'] });
  });
});
