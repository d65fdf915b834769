import { z } from 'zod';
import type { BrowserTool } from '../browser-tool.js';
import { openPage } from './open-page.js';
import { PAGE_INPUTS, parseInputs } from './page-inputs.js';
import { linksOf, readPage } from './read-page.js';

const NavigateInputs = z.strictObject({
  ...PAGE_INPUTS,
  format: z.enum(['text', 'markdown', 'html']).default('text'),
  links: z.boolean().default(true),
});

/** Opens a page, runs its scripts and returns its content. */
export const navigate: BrowserTool = {
  prepare: (raw) => {
    const inputs = parseInputs(NavigateInputs, raw);
    return {
      urls: [inputs.url],
      viewport: inputs.viewport,
      run: async (run) => {
        const opened = await openPage(run, inputs);
        const { content, truncated } = await readPage(run, inputs.format);
        const links = inputs.links ? await linksOf(run.visit.page) : [];
        return {
          success: true,
          payload: { ...opened, [inputs.format]: content, ...(inputs.links && { links }) },
          truncated,
        };
      },
    };
  },
};
