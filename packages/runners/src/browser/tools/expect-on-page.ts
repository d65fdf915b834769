import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '@capstan/contracts';
import type { Page } from 'playwright-core';
import { isTimeout } from '../failure-of.js';
import type { ScriptStep } from './script-step.js';

type Expectation = Extract<ScriptStep, { action: 'expect' }>;

const POLL_MS = 50;

/** Waits until all expectations are met. The first that is not met in time is the failure. */
export async function expectOnPage(page: Page, wanted: Expectation, timeout: number): Promise<void> {
  const deadline = performance.now() + timeout;
  for (;;) {
    const missing = await missingOn(page, wanted);
    if (missing === null) return;
    if (performance.now() > deadline) throw new Failure('TOOL_ERROR', { detail: missing });
    await delay(POLL_MS);
  }
}

/** The first expectation that is not met at present, or null. */
async function missingOn(
  page: Page,
  { selector, text, visible, count, url, title }: Expectation,
): Promise<string | null> {
  try {
    if (url !== undefined && !page.url().includes(url)) return `the address is ${page.url()}, not ${url}`;
    if (title !== undefined && !(await page.title()).includes(title)) return `the title is "${await page.title()}"`;
    const found = page.locator(selector ?? 'body');
    const where = selector ?? 'the page';
    if (count !== undefined && (await found.count()) !== count)
      return `${where}: there are ${await found.count()}, not ${count}`;
    if (text !== undefined && (await found.filter({ hasText: text }).count()) === 0)
      return `${where} does not say "${text}"`;
    const isSeen = (await found.count()) > 0 && (await found.first().isVisible());
    if (visible !== undefined && isSeen !== visible) return `${where} is ${isSeen ? 'visible' : 'not visible'}`;
    if (selector !== undefined && visible === undefined && count === undefined && (await found.count()) === 0)
      return `${where} is not there`;
    return null;
  } catch (error) {
    // The page navigated in the meantime.
    if (isTimeout(error) || !/context was destroyed|navigat/i.test(String(error))) throw error;
    return 'the page is loading';
  }
}
