import { Failure } from '@capstan/contracts';
import { checkUrl, createEgress, type Egress } from '@capstan/egress';
import { type Converter, createConverter } from '../api/html/create-converter.js';
import { boundInputs } from '../bound-inputs.js';
import type { Call, Runner, RunOutcome, ToolFailure } from '../runner.js';
import { blamed } from './blamed.js';
import type { BrowserRun, BrowserTool, Done, PreparedTool } from './browser-tool.js';
import { openVisit } from './browser-visit.js';
import { type BrowserLease, type BrowserPool, createBrowserPool } from './create-browser-pool.js';
import { failureOf, isDownload } from './failure-of.js';
import { keepDownloads } from './keep-downloads.js';
import { type LaunchOptions, launchBrowser } from './launch/launch-browser.js';
import { extract } from './tools/extract.js';
import { navigate } from './tools/navigate.js';
import { pdf } from './tools/pdf.js';
import { screenshot } from './tools/screenshot.js';
import { script } from './tools/script.js';

export type BrowserRunnerOptions = LaunchOptions & {
  egress?: Egress;
  max_jobs?: number;
  max_memory_bytes?: number;
  idle_ms?: number;
};

const MAX_JOBS = 200;
const MAX_MEMORY_BYTES = 1.5 * 1024 ** 3;
const IDLE_MS = 300_000;
const DOWNLOAD_MS = 5_000;

const TOOLS = new Map<string, BrowserTool>([
  ['browser.navigate', navigate],
  ['browser.screenshot', screenshot],
  ['browser.pdf', pdf],
  ['browser.extract', extract],
  ['browser.script', script],
]);

/** Runs browser tools in a warm browser, each call in its own context. No browser starts before the first call. */
export function createBrowserRunner(options: BrowserRunnerOptions = {}): Runner {
  const {
    egress = createEgress(),
    max_jobs = MAX_JOBS,
    max_memory_bytes = MAX_MEMORY_BYTES,
    idle_ms = IDLE_MS,
  } = options;
  const converter = createConverter();
  const pool = createBrowserPool({ launch: () => launchBrowser(options), max_jobs, max_memory_bytes, idle_ms });

  return {
    type: 'browser',
    run: async (call) => {
      const { descriptor } = call;
      const bound = boundInputs(call);
      const tool = TOOLS.get(bound.action);
      if (!tool) return unknownTool(descriptor.tool_id);
      try {
        const prepared = tool.prepare(bound.inputs);
        for (const url of prepared.urls) checkUrl(url, call.limits);
        return await runPrepared({ pool, egress, converter }, call, prepared);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        const failure = failureOf(error);
        return { ...failure, error: call.redact.text(error.message), facts: { observed: { domains: [] } } };
      }
    },
    close: async () => {
      await pool.close();
      await Promise.all([egress.close(), converter.close()]);
    },
  };
}

type Parts = { pool: BrowserPool; egress: Egress; converter: Converter };

async function runPrepared(
  { pool, egress, converter }: Parts,
  call: Call,
  prepared: PreparedTool,
): Promise<RunOutcome> {
  call.signal.throwIfAborted();
  const lease = await leaseUnlessAborted(pool, call.signal);
  let isBroken = false;
  try {
    requireWalls(lease, call);
    const visit = await openVisit(lease, egress, call, prepared);
    // Closing the context stops everything on the page, including endless loops, and ends every wait for it.
    let closing: Promise<boolean> | undefined;
    const close = () => {
      closing ??= visit.close();
      return closing;
    };
    const { promise: stopped, off } = onAbort(call.signal, close);
    try {
      const done: Done = { steps: [], artifacts: [] };
      const run = { call, visit, converter, done };
      const outcome = await Promise.race([attempt(call, prepared, run), stopped]).catch((error: unknown) => {
        if (!call.signal.aborted) throw error;
        return stoppedAfter(done);
      });
      return {
        ...outcome,
        facts: {
          observed: { domains: [...visit.domains] },
          sandbox: lease.sandbox,
          usage: { refused_requests: visit.refused.length },
        },
      };
    } finally {
      off();
      isBroken = !(await close());
    }
  } finally {
    await lease.release(isBroken);
  }
}

/** A page can do less than a program, and the browser must work after a plain installation. So a sandbox is only required if the policy says so. */
function requireWalls({ level, sandbox }: BrowserLease, { limits }: Call): void {
  if (limits.seccomp === 'required' && !sandbox.includes('seccomp'))
    throw new Failure('SANDBOX_UNAVAILABLE', {
      detail: `the policy requires seccomp, and the browser has only ${sandbox} here; see capstan doctor`,
    });
  if (level !== 'process' || limits.sandbox !== 'required') return;
  throw new Failure('SANDBOX_UNAVAILABLE', {
    detail:
      'pages must be opened in a sandbox, and Chromium has none here: its own does not work under root; ' +
      'install bubblewrap (apt-get install bubblewrap), or run the worker as another user',
  });
}

/** A canceled call does not wait for the browser to start. */
async function leaseUnlessAborted(pool: BrowserPool, signal: AbortSignal): Promise<BrowserLease> {
  const leasing = pool.lease();
  const { promise: stopped, off } = onAbort(signal, async () => {
    leasing.then((lease) => lease.release()).catch(() => {});
  });
  try {
    return await Promise.race([leasing, stopped]);
  } finally {
    off();
  }
}

async function attempt(call: Call, prepared: PreparedTool, run: BrowserRun): Promise<RunOutcome> {
  try {
    return await Promise.race([runAndKeep(prepared, run), run.visit.trouble]);
  } catch (error) {
    call.signal.throwIfAborted();
    const failure = failureOf(await blamed(run, error));
    // A call that may have taken effect is not retried automatically.
    const retryable = failure.retryable && call.descriptor.effects.idempotent;
    if (isDownload(error)) await run.visit.untilDownload(DOWNLOAD_MS).catch(() => {});
    const artifacts = await Promise.race([keepDownloads(run), run.visit.trouble]).catch(() => []);
    const kept = artifacts.length > 0 ? '; what it downloaded is among the artifacts' : '';
    return {
      ...failure,
      ...(artifacts.length > 0 && { artifacts }),
      error: call.redact.text(failure.error) + kept,
      retryable,
    };
  }
}

async function runAndKeep(prepared: PreparedTool, run: BrowserRun): Promise<RunOutcome> {
  const outcome = await prepared.run(run);
  const downloads = await keepDownloads(run);
  return downloads.length === 0 ? outcome : { ...outcome, artifacts: [...(outcome.artifacts ?? []), ...downloads] };
}

/** The worker knows why it stopped the call. */
const stoppedAfter = ({ steps, artifacts }: Done): ToolFailure => ({
  success: false,
  error: 'stopped',
  kind: 'CANCELED',
  retryable: false,
  ...(steps.length > 0 && { payload: { steps: [...steps] } }),
  artifacts: [...artifacts],
});

/** Rejects with the reason for the abort once `close` is done. */
function onAbort(signal: AbortSignal, close: () => Promise<unknown>): { promise: Promise<never>; off(): void } {
  let listener = () => {};
  const promise = new Promise<never>((_, reject) => {
    listener = () => {
      const stop = () => reject(signal.reason);
      close().then(stop, stop);
    };
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
  });
  promise.catch(() => {});
  return { promise, off: () => signal.removeEventListener('abort', listener) };
}

const unknownTool = (tool_id: string): ToolFailure => ({
  success: false,
  error: `the browser runner has no tool ${tool_id}`,
  kind: 'UNKNOWN_TOOL',
  retryable: false,
});
