import { z } from 'zod';
import type { BrowserTool } from '../browser-tool.js';
import { openPage, timeoutOf } from './open-page.js';
import { PAGE_INPUTS, parseInputs } from './page-inputs.js';
import { takeScreenshot } from './take-screenshot.js';

const ScreenshotInputs = z.strictObject({
  ...PAGE_INPUTS,
  full_page: z.boolean().default(false),
  selector: z.string().min(1).optional(),
  format: z.enum(['png', 'jpeg']).default('png'),
});

/** Takes a screenshot, which is kept as an artifact. */
export const screenshot: BrowserTool = {
  prepare: (raw) => {
    const inputs = parseInputs(ScreenshotInputs, raw);
    return {
      urls: [inputs.url],
      viewport: inputs.viewport,
      run: async (run) => {
        const opened = await openPage(run, inputs);
        const { format } = inputs;
        const timeout_ms = timeoutOf(run, inputs.timeout_ms);
        const content = await takeScreenshot(run.visit.page, { ...inputs, timeout_ms });
        const name = `screenshot.${format === 'png' ? 'png' : 'jpg'}`;
        const artifact = await run.call.keep({ name, media_type: `image/${format}`, content });
        return { success: true, payload: { ...opened, artifact }, artifacts: [artifact] };
      },
    };
  },
};
