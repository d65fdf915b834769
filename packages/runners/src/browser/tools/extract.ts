import type { Json } from '@capstan/contracts';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import type { BrowserTool } from '../browser-tool.js';
import { openPage } from './open-page.js';
import { PAGE_INPUTS, parseInputs } from './page-inputs.js';

const MAX_MATCHES = 1000;

const Selector = z.union([
  z.string().min(1),
  z.strictObject({
    selector: z.string().min(1),
    /** Without it, the text of the element. */
    attribute: z.string().min(1).optional(),
    all: z.boolean().default(false),
    limit: z.int().positive().max(MAX_MATCHES).default(MAX_MATCHES),
  }),
]);
type Selector = z.infer<typeof Selector>;

const ExtractInputs = z.strictObject({ ...PAGE_INPUTS, selectors: z.record(z.string(), Selector) });

/** Opens a page and extracts values. */
export const extract: BrowserTool = {
  prepare: (raw) => {
    const inputs = parseInputs(ExtractInputs, raw);
    return {
      urls: [inputs.url],
      viewport: inputs.viewport,
      run: async (run) => {
        const opened = await openPage(run, inputs);
        const data: Record<string, Json> = {};
        for (const [name, selector] of Object.entries(inputs.selectors))
          data[name] = await extractOne(run.visit.page, selector);
        if (Buffer.byteLength(JSON.stringify(data)) > run.call.limits.max_output_bytes)
          return {
            success: false,
            error: `what was extracted is larger than ${run.call.limits.max_output_bytes} bytes`,
            kind: 'TOOL_ERROR',
            retryable: false,
          };
        return { success: true, payload: { ...opened, data } };
      },
    };
  },
};

/** A page can manipulate the results of scripts that run in it. */
const Values = z.array(z.string().nullable()).catch([]);

async function extractOne(page: Page, wanted: Selector): Promise<Json> {
  const { selector, attribute, all, limit } =
    typeof wanted === 'string' ? { selector: wanted, attribute: undefined, all: false, limit: 1 } : wanted;
  const found: unknown = await page
    .locator(selector)
    .evaluateAll(
      (elements, { name, max }) =>
        elements
          .slice(0, max)
          .map((element) => (name === null ? (element.textContent ?? '').trim() : element.getAttribute(name))),
      { name: attribute ?? null, max: all ? limit : 1 },
    );
  const values = Values.parse(found);
  return all ? values : (values[0] ?? null);
}
