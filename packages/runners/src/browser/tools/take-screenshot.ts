import type { Page } from 'playwright-core';

export type ShotOptions = {
  full_page: boolean;
  selector?: string | undefined;
  format: 'png' | 'jpeg';
  timeout_ms: number;
};

/** A page determines its own height, and the screenshot has to fit into memory. */
const MAX_HEIGHT = 16_384;

export async function takeScreenshot(
  page: Page,
  { full_page, selector, format, timeout_ms }: ShotOptions,
): Promise<Buffer> {
  const common = { type: format, timeout: timeout_ms, animations: 'disabled', caret: 'hide' } as const;
  if (selector !== undefined) return page.locator(selector).first().screenshot(common);
  if (!full_page) return page.screenshot(common);
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
  if (!(height > MAX_HEIGHT)) return page.screenshot({ ...common, fullPage: true });
  const width = page.viewportSize()?.width ?? 1280;
  return page.screenshot({ ...common, fullPage: true, clip: { x: 0, y: 0, width, height: MAX_HEIGHT } });
}
