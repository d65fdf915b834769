import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserRun } from './browser-tool.js';

/** How long the reason may come after its consequence: both travel as events of the browser. */
const MOMENT_MS = 100;

/** Why a page is gone says more than what a step makes of it. */
export const blamed = ({ visit }: BrowserRun, error: unknown): Promise<unknown> =>
  Promise.race([visit.trouble.catch((trouble: unknown) => trouble), delay(MOMENT_MS, error)]);
