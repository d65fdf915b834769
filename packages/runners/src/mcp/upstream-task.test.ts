import { expect, test } from 'vitest';
import { toQuestion } from './upstream-task.js';

test('the questions of a server are kept as it sent them', () => {
  const form = { method: 'elicitation/create', params: { message: 'Which branch?' } };
  expect(toQuestion({ branch: form })).toEqual({ requests: { branch: form } });
});

test('a question whose parameters are not an object is refused', () => {
  expect(() => toQuestion({ branch: { method: 'elicitation/create', params: 'Which branch?' } })).toThrow(
    'its question cannot be asked',
  );
});
