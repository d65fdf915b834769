import { expect, test } from 'vitest';
import { createRunners } from './create-runners.js';

test('every runner is found under its own type', () => {
  const runners = createRunners({ work_dir: '/nowhere' });
  expect([...runners.keys()]).toEqual(expect.arrayContaining(['api', 'browser', 'builtin', 'exec']));
  for (const [type, runner] of runners) expect(runner.type).toBe(type);
});
