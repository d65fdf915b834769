import { logLine, shownUrl } from '../../log-line.js';
import type { BrowserRun } from '../browser-tool.js';
import type { PageInputs } from './page-inputs.js';

export type Opened = { title: string; url: string; status: number | null };

const DEFAULT_TIMEOUT_MS = 30_000;

export const timeoutOf = ({ call }: BrowserRun, timeout_ms: number | undefined): number =>
  Math.min(timeout_ms ?? DEFAULT_TIMEOUT_MS, call.limits.timeout_ms);

/** Opens a URL and waits as requested. */
export async function openPage(run: BrowserRun, inputs: Omit<PageInputs, 'viewport'>): Promise<Opened> {
  const { page } = run.visit;
  const timeout = timeoutOf(run, inputs.timeout_ms);
  logLine(run.call, `opening ${shownUrl(inputs.url)}`);
  const response = await page.goto(inputs.url, { waitUntil: inputs.wait_until, timeout });
  logLine(run.call, `answered ${response?.status() ?? 'without a status'}`);
  if (inputs.wait_for !== undefined) await page.locator(inputs.wait_for).first().waitFor({ timeout });
  return { title: await page.title(), url: page.url(), status: response?.status() ?? null };
}
