import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '@capstan/contracts';
import type { Egress, EgressProxy, Refusal } from '@capstan/egress';
import { PROXY_STATUS, startEgressProxy } from '@capstan/egress';
import type { BrowserContext, Download, Page, Request } from 'playwright-core';
import { logLine, shownUrl } from '../log-line.js';
import type { Call } from '../runner.js';
import type { BrowserLease } from './create-browser-pool.js';

/** The page of one call, in its own browser context, behind a proxy that applies the rules of the call. */
export type BrowserVisit = {
  page: Page;
  /** Hosts that were contacted, and those that were refused. */
  domains: Set<string>;
  refused: Refusal[];
  /** Downloads that started and were not saved yet. */
  downloads: Download[];
  /** Waits for a download. The browser announces one shortly after its cause: a click, or a URL that is not a page. */
  untilDownload(timeout_ms: number): Promise<void>;
  /** Rejects if the page was refused, crashed or exceeded a limit, because everything that waits for the page would wait in vain. */
  trouble: Promise<never>;
  /** Returns false if the browser did not close it in time. */
  close(): Promise<boolean>;
};

export type VisitOptions = { viewport?: { width: number; height: number } | undefined };

const VIEWPORT = { width: 1280, height: 800 };
/** The most bytes that one call may load, including all resources of its pages. */
const MAX_BYTES = 50 * 1024 * 1024;
const MAX_EVENTS = 50;
const MAX_DOWNLOADS = 10;
const CLOSE_MS = 800;

export async function openVisit(
  lease: BrowserLease,
  egress: Egress,
  call: Call,
  { viewport = VIEWPORT }: VisitOptions,
): Promise<BrowserVisit> {
  const { limits } = call;
  const domains = new Set<string>();
  const { promise: trouble, reject: giveUp } = createTrouble();
  const refused: Refusal[] = [];
  const max_bytes = limits.max_response_bytes ?? MAX_BYTES;
  const proxy = await startEgressProxy({
    egress,
    rules: limits,
    max_bytes,
    onDomain: (domain) => domains.add(domain),
    onRefused: (refusal) => {
      if (refused.length < MAX_EVENTS) refused.push(refusal);
    },
    onExceeded: () =>
      giveUp(new Failure('TOOL_ERROR', { detail: `the page loads more than the ${max_bytes} bytes of this call` })),
  });
  try {
    const context = await lease.browser.newContext({
      // Loopback addresses go through the proxy as well.
      proxy: { server: proxy.url ?? '', bypass: '<-loopback>' },
      viewport,
      acceptDownloads: true,
      serviceWorkers: 'block',
      locale: 'en-US',
    });
    const tell = createTeller(call);
    const downloads = await tame(context, tell);
    const page = await context.newPage();
    watchMainFrame(page, refused, giveUp);
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame()) tell(`at ${shownUrl(frame.url())}`);
    });
    context.on('page', (popup) => {
      tell(`popup closed: ${shownUrl(popup.url())}`);
      popup.close().catch(() => {});
    });
    return {
      page,
      domains,
      refused,
      downloads,
      untilDownload: async (timeout) => {
        if (downloads.length === 0) await context.waitForEvent('download', { timeout });
      },
      trouble,
      close: () => closeVisit(context, proxy),
    };
  } catch (error) {
    await proxy.close();
    throw error;
  }
}

type GiveUp = (failure: Failure) => void;

function createTrouble(): { promise: Promise<never>; reject: GiveUp } {
  let reject: GiveUp = () => {};
  const promise = new Promise<never>((_, no) => {
    reject = no;
  });
  // Nobody may be waiting for it when it rejects.
  promise.catch(() => {});
  return { promise, reject };
}

/** Errors of the proxy must not look like responses of the site. For a refused tunnel the browser shows nothing. */
function watchMainFrame(page: Page, refused: Refusal[], giveUp: GiveUp): void {
  const isPageItself = (request: Request) => request.isNavigationRequest() && request.frame() === page.mainFrame();
  const report = (url: string) => {
    const host = URL.canParse(url) ? new URL(url).hostname : '';
    const refusal = refused.findLast((one) => one.host === host);
    giveUp(
      refusal
        ? new Failure('EGRESS_DENIED', { detail: refusal.reason, context: { url, rule: refusal.rule } })
        : new Failure('EGRESS_FAILED', { detail: `${host} could not be reached` }),
    );
  };
  page.on('response', (response) => {
    const isOurs = response.headers()[PROXY_STATUS.header]?.startsWith(PROXY_STATUS.name);
    if (isOurs && isPageItself(response.request())) report(response.url());
  });
  page.on('requestfailed', (request) => {
    const isTunnel = request.failure()?.errorText.includes('ERR_TUNNEL_CONNECTION_FAILED');
    if (isTunnel && isPageItself(request)) report(request.url());
  });
  page.on('crash', () => giveUp(new Failure('TOOL_ERROR', { detail: 'the page crashed' })));
}

type Tell = (event: string) => void;

/** Logs navigations and refused requests as they happen. Limited, so that no page can flood the log. */
function createTeller(call: Call): Tell {
  let told = 0;
  return (event) => {
    told += 1;
    if (told <= MAX_EVENTS) logLine(call, event);
  };
}

/** Nothing on a page may wait for a person. Returns the list to which downloads are added. */
async function tame(context: BrowserContext, tell: Tell): Promise<Download[]> {
  const downloads: Download[] = [];
  let begun = 0;
  await context.addInitScript(withoutPeers);
  context.on('dialog', (dialog) => {
    const kind = dialog.type();
    tell(`${kind} dismissed: ${dialog.message()}`);
    (kind === 'beforeunload' ? dialog.accept() : dialog.dismiss()).catch(() => {});
  });
  context.on('download', (download) => {
    begun += 1;
    if (begun <= MAX_DOWNLOADS) return void downloads.push(download);
    tell(`download refused, after ${MAX_DOWNLOADS}: ${download.suggestedFilename()}`);
    download.cancel().catch(() => {});
  });
  return downloads;
}

async function closeVisit(context: BrowserContext, proxy: EgressProxy): Promise<boolean> {
  const closed = context.close().then(
    () => true,
    () => true,
  );
  const stop = new AbortController();
  const late = delay(CLOSE_MS, false, { signal: stop.signal }).catch(() => false);
  const [isClosed] = await Promise.all([Promise.race([closed, late]), proxy.close()]);
  stop.abort();
  return isClosed;
}

/** Runs in pages before their own scripts. WebRTC and WebTransport would bypass the proxy. */
const withoutPeers = (): void => {
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport'])
    Reflect.deleteProperty(globalThis, name);
};
