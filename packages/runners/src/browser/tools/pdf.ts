import { z } from 'zod';
import type { BrowserTool } from '../browser-tool.js';
import { openPage } from './open-page.js';
import { PAGE_INPUTS, parseInputs } from './page-inputs.js';

const PdfInputs = z.strictObject({
  ...PAGE_INPUTS,
  format: z.enum(['A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid']).default('A4'),
  landscape: z.boolean().default(false),
  background: z.boolean().default(true),
});

/** Prints a page to a PDF, which is kept as an artifact. */
export const pdf: BrowserTool = {
  prepare: (raw) => {
    const inputs = parseInputs(PdfInputs, raw);
    return {
      urls: [inputs.url],
      viewport: inputs.viewport,
      run: async (run) => {
        const opened = await openPage(run, inputs);
        const { format, landscape, background } = inputs;
        const content = await run.visit.page.pdf({ format, landscape, printBackground: background });
        const artifact = await run.call.keep({ name: 'page.pdf', media_type: 'application/pdf', content });
        return { success: true, payload: { ...opened, artifact }, artifacts: [artifact] };
      },
    };
  },
};
