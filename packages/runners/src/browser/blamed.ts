import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserRun } from './browser-tool.js';

/** How long the cause may arrive after its effect: both are events of the browser. */
const MOMENT_MS = 100;

/** If the page itself failed, that is a better explanation than the error of the step. */
export const blamed = ({ visit }: BrowserRun, error: unknown): Promise<unknown> =>
  Promise.race([visit.trouble.catch((trouble: unknown) => trouble), delay(MOMENT_MS, error)]);
