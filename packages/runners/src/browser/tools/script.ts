import { Failure } from '@capstan/contracts';
import { z } from 'zod';
import type { RunOutcome } from '../../runner.js';
import { blamed } from '../blamed.js';
import type { BrowserRun, BrowserTool } from '../browser-tool.js';
import { failureOf } from '../failure-of.js';
import { PAGE_INPUTS, parseInputs } from './page-inputs.js';
import { runStep } from './run-step.js';
import { AnyStep, type ScriptStep } from './script-step.js';

const ScriptInputs = z.strictObject({
  url: PAGE_INPUTS.url.optional(),
  steps: z.array(AnyStep).min(1).max(100),
  viewport: PAGE_INPUTS.viewport,
});

/** Runs a list of steps on one page, and stops at the first that fails. */
export const script: BrowserTool = {
  prepare: (raw) => {
    const { url, steps, viewport } = parseInputs(ScriptInputs, raw);
    const first: ScriptStep[] = url === undefined ? [] : [{ action: 'goto', url, wait_until: 'load' }];
    const all = [...first, ...steps];
    if (all[0]?.action !== 'goto') throw new Failure('INVALID_INPUTS', { detail: 'the first step must be goto' });
    const urls = all.flatMap((step) => (step.action === 'goto' ? [step.url] : []));
    return { urls, viewport, run: (run) => runSteps(run, all) };
  },
};

async function runSteps(run: BrowserRun, steps: ScriptStep[]): Promise<RunOutcome> {
  const { steps: done, artifacts } = run.done;
  for (const [index, step] of steps.entries()) {
    const name = `step ${index + 1}, ${step.action}`;
    try {
      const { detail, artifact } = await Promise.race([runStep(run, step, index), run.visit.trouble]);
      if (artifact) artifacts.push(artifact);
      done.push({ action: step.action, ok: true, ...(typeof detail === 'object' ? detail : {}) });
      run.call.log('stdout', `${name}: ok\n`);
    } catch (error) {
      run.call.signal.throwIfAborted();
      const { error: why, kind } = failureOf(await blamed(run, error));
      const said = run.call.redact.text(why);
      run.call.log('stderr', `${name}: ${said}\n`);
      done.push({ action: step.action, ok: false, error: said });
      // Earlier steps may have taken effect.
      return { success: false, error: `${name}: ${said}`, kind, retryable: false, payload: { steps: done }, artifacts };
    }
  }
  const { page } = run.visit;
  return { success: true, payload: { steps: done, url: page.url(), title: await page.title() }, artifacts };
}
