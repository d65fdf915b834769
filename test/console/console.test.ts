import { afterAll, beforeAll, describe, expect } from 'vitest';
import { testAccess } from './access.js';
import { testApprovals } from './approvals.js';
import { type ConsoleUnderTest, startConsole } from './console-under-test.js';
import { testEveryPage } from './every-page.js';
import { testLists } from './lists.js';
import { testPolicy } from './policy.js';
import { testSafety } from './safety.js';

const started = {} as { console: ConsoleUnderTest };
beforeAll(async () => {
  started.console = await startConsole();
});
afterAll(() => expect(started.console.errors).toEqual([]));

const at = () => started.console;
/** Browsers are slow on a busy machine. */
const LONG_MS = 90_000;

describe('the console', { timeout: LONG_MS }, () => {
  testAccess(at);
  testApprovals(at);
  testPolicy(at);
  testSafety(at);
  testLists(at);
  testEveryPage(at);
});
