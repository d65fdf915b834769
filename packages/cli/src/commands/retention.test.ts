import { describe, expect, it } from 'vitest';
import { run } from '../testing/run-in-test.js';

describe('retention', () => {
  it.each([[['--records', '30']], [['--results', '7']], [['--for', 'failed=30/365d']]])(
    'refuses a number without a unit (%j), because seconds instead of days would delete data',
    async (args) => {
      const { code, stderr } = await run(['retention', 'set', 'acme', ...args]);
      expect(code).toBe(2);
      expect(stderr).toContain('30d');
    },
  );
});
