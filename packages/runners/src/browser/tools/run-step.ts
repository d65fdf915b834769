import { type Artifact, Failure, type Json } from '@capstan/contracts';
import { checkUrl } from '@capstan/egress';
import type { BrowserRun } from '../browser-tool.js';
import { expectOnPage } from './expect-on-page.js';
import { openPage, timeoutOf } from './open-page.js';
import type { ScriptStep } from './script-step.js';
import { takeScreenshot } from './take-screenshot.js';

export type StepResult = { detail: Json; artifact?: Artifact };

const STEP_MS = 10_000;

/** Runs one step. Throws if it cannot be done. */
export async function runStep(run: BrowserRun, step: ScriptStep, index: number): Promise<StepResult> {
  const { page } = run.visit;
  const timeout = timeoutOf(run, 'timeout_ms' in step ? (step.timeout_ms ?? STEP_MS) : STEP_MS);
  switch (step.action) {
    case 'goto': {
      checkUrl(step.url, run.call.limits);
      const timeout_ms = step.timeout_ms;
      const { url, status } = await openPage(run, { ...step, timeout_ms, wait_for: undefined });
      return { detail: { url, status } };
    }
    case 'click':
      await page.locator(step.selector).first().click({ timeout });
      break;
    case 'fill':
      await page
        .locator(step.selector)
        .first()
        .fill(await typedValue(run, step.value), { timeout });
      break;
    case 'press':
      if (step.selector === undefined) await page.keyboard.press(step.key);
      else await page.locator(step.selector).first().press(step.key, { timeout });
      break;
    case 'wait':
      await wait(run, step, timeout);
      break;
    case 'expect':
      await expectOnPage(page, step, timeout);
      break;
    case 'screenshot':
      return screenshot(run, step, index, timeout);
  }
  return { detail: {} };
}

const SECRET = /^secret:\/\/([A-Za-z0-9_.-]{1,200})$/;

async function typedValue({ call, visit }: BrowserRun, value: string): Promise<string> {
  const name = SECRET.exec(value)?.[1];
  // Everything that the page loads can read what is typed into it, so the secret must be allowed for the host of the page.
  return name === undefined ? value : call.secret(name, [new URL(visit.page.url()).hostname]);
}

async function wait(
  { visit }: BrowserRun,
  step: Extract<ScriptStep, { action: 'wait' }>,
  timeout: number,
): Promise<void> {
  const { page } = visit;
  const { selector, ms, until, url, download } = step;
  if ([selector, ms, until, url, download].every((one) => one === undefined))
    throw new Failure('INVALID_INPUTS', { detail: 'wait needs selector, ms, until, url or download' });
  if (selector !== undefined) await page.locator(selector).first().waitFor({ timeout });
  if (url !== undefined) await page.waitForURL((now) => now.href.includes(url), { timeout });
  if (until !== undefined) await page.waitForLoadState(until, { timeout });
  if (download) await visit.untilDownload(timeout);
  if (ms !== undefined) await page.waitForTimeout(ms);
}

async function screenshot(
  { visit, call }: BrowserRun,
  { selector, full_page, name }: Extract<ScriptStep, { action: 'screenshot' }>,
  index: number,
  timeout_ms: number,
): Promise<StepResult> {
  const content = await takeScreenshot(visit.page, { selector, full_page, format: 'png', timeout_ms });
  const file = name === undefined ? `step-${index + 1}.png` : name.endsWith('.png') ? name : `${name}.png`;
  const artifact = await call.keep({ name: file, media_type: 'image/png', content });
  return { detail: { artifact }, artifact };
}
