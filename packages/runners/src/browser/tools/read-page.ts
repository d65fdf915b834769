import type { Page } from 'playwright-core';
import { z } from 'zod';
import { cutText } from '../../cut-text.js';
import type { BrowserRun } from '../browser-tool.js';

export type PageFormat = 'text' | 'markdown' | 'html';

/** The visible content. Markdown falls back to text if the page cannot be converted. */
export async function readPage(run: BrowserRun, format: PageFormat): Promise<{ content: string; truncated: boolean }> {
  const { page } = run.visit;
  const content = (await contentOf(run, format)) ?? (await page.locator('body').innerText());
  const { kept, truncated } = cutText(run.call.redact.text(content), run.call.limits.max_output_bytes);
  return { content: kept, truncated };
}

async function contentOf({ call, visit, converter }: BrowserRun, format: PageFormat): Promise<string | null> {
  if (format === 'text') return null;
  const html = await visit.page.content();
  return format === 'html' ? html : converter.convert(html, 'markdown', call.signal);
}

const MAX_LINKS = 200;
/** A page can manipulate the results of scripts that run in it. */
const Links = z.array(z.object({ text: z.string(), url: z.string() })).catch([]);

export async function linksOf(page: Page): Promise<{ text: string; url: string }[]> {
  const found: unknown = await page.locator('a[href]').evaluateAll(
    (anchors, max) =>
      anchors.slice(0, max).flatMap((anchor) => {
        if (!('href' in anchor) || typeof anchor.href !== 'string') return [];
        return [{ text: (anchor.textContent ?? '').trim().slice(0, 200), url: anchor.href.slice(0, 2000) }];
      }),
    MAX_LINKS,
  );
  return Links.parse(found).filter(({ url }) => url.startsWith('http:') || url.startsWith('https:'));
}
