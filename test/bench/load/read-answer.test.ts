import { expect, test } from 'vitest';
import { readAnswer } from './read-answer.js';

const whole = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"a":"é"}';

test('an answer is read whole, its length counted in bytes', () => {
  expect(readAnswer(Buffer.from(whole))).toEqual({ status: 200, body: '{"a":"é"}' });
});

test('an answer cut anywhere is not an answer yet', () => {
  const bytes = Buffer.from(whole);
  const cuts = Array.from({ length: bytes.length }, (_, end) => readAnswer(bytes.subarray(0, end)));
  expect(cuts.every((answer) => answer === undefined)).toBe(true);
});

test('an answer of unknown length is refused, for its end could not be told', () => {
  const chunked = Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n');
  expect(() => readAnswer(chunked)).toThrow('without a content-length');
});

test('a refusal says when to come again', () => {
  const refusal = Buffer.from('HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n');
  expect(readAnswer(refusal)).toEqual({ status: 503, body: '', retry_after: '2' });
});
