import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Artifact, Binding, JsonObject, Limits } from '@capstan/contracts';
import { createEgress } from '@capstan/egress';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Call, KeptFile } from '../runner.js';
import { testCall, testDescriptor } from '../testing/test-call.js';
import { createBrowserRunner } from './create-browser-runner.js';

// Names of this suite mean loopback, so that pages have several origins.
const egress = createEgress({ resolve: async () => ['127.0.0.1'] });
const runner = createBrowserRunner({ egress, path: process.env.PATH });
afterAll(() => runner.close?.());
// The first start unpacks a browser where none is installed.
beforeAll(async () => {
  const url = await serve((_, response) => response.end('warm'));
  await run('browser.navigate', { url });
}, 120_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const page =
  (body: string): RequestListener =>
  (_, response) =>
    response.setHeader('content-type', 'text/html; charset=utf-8').end(`<!doctype html>${body}`);

const OPEN: Limits = { timeout_ms: 20_000, max_output_bytes: 1_000_000, deny_private_ips: false };

const run = (tool_id: string, inputs: JsonObject, over: Partial<Call> = {}, binding: Binding = { kind: 'native' }) =>
  Promise.resolve(
    runner.run(testCall(testDescriptor({ tool_id, runner: 'browser', binding }), { inputs, limits: OPEN, ...over })),
  );

function keeper() {
  const kept: { name: string; media_type: string; bytes: Buffer }[] = [];
  const keep = async ({ name, media_type, content }: KeptFile): Promise<Artifact> => {
    const bytes = content instanceof Uint8Array ? Buffer.from(content) : await buffer(content);
    kept.push({ name, media_type, bytes });
    return { sha256: 'a'.repeat(64), name, media_type, size: bytes.length };
  };
  return { kept, keep };
}

describe('browser.navigate', () => {
  const PAGE = `<title>Home</title><h1>Hello</h1><p id=p>static</p><a href="/next">next</a><a href="javascript:x()">no</a>
    <script>document.getElementById('p').textContent = 'made by a script'</script>`;

  test('gives the title, the address, the status, the text after scripts have run, and the links', async () => {
    const url = await serve(page(PAGE));
    expect(await run('browser.navigate', { url })).toMatchObject({
      success: true,
      payload: {
        title: 'Home',
        url: `${url}/`,
        status: 200,
        text: expect.stringContaining('made by a script'),
        links: [{ text: 'next', url: `${url}/next` }],
      },
      facts: { observed: { domains: ['127.0.0.1'] }, sandbox: expect.any(String) },
    });
  });

  test('gives markdown', async () => {
    const url = await serve(page(PAGE));
    const outcome = await run('browser.navigate', { url, format: 'markdown', wait_until: 'domcontentloaded' });
    expect(outcome).toMatchObject({ payload: { markdown: expect.stringMatching(/^# Hello\n\nmade by a script/) } });
  });

  test('waits for what comes later', async () => {
    const url = await serve(
      page(
        `<script>setTimeout(() => document.body.append(Object.assign(document.createElement('b'), {id: 'late', textContent: 'late'})), 100)</script>`,
      ),
    );
    expect(await run('browser.navigate', { url, wait_for: '#late' })).toMatchObject({ payload: { text: 'late' } });
  });

  test('an action of an extension runs with what the extension sets', async () => {
    const url = await serve(page('<b>set</b>'));
    const binding: Binding = { kind: 'action', extension_id: 'x', action: 'browser.navigate', preset: { url } };
    expect(await run('ext:x:open', {}, {}, binding)).toMatchObject({ success: true, payload: { text: 'set' } });
  });

  test('a server that is not there is a failure of the network', async () => {
    const url = await serve(() => {});
    for (const cleanup of cleanups.splice(0)) cleanup();
    expect(await run('browser.navigate', { url })).toMatchObject({ success: false, kind: 'EGRESS_FAILED' });
  });

  test.each([{}, { url: 'http://a.test', nope: 1 }, { url: 'http://a.test', wait_until: 'never' }])(
    'refuses inputs %j',
    async (inputs) => {
      expect(await run('browser.navigate', inputs)).toMatchObject({ success: false, kind: 'INVALID_INPUTS' });
    },
  );
});

describe('what a page cannot do', () => {
  test.each([
    'http://127.0.0.1:1/',
    'http://localhost/',
    'file:///etc/passwd',
    'http://169.254.169.254/',
    'chrome://version',
    'http://[::1]/',
  ])('open %s under the default rules', async (url) => {
    const limits = { ...OPEN, deny_private_ips: true };
    expect(await run('browser.navigate', { url }, { limits })).toMatchObject({ success: false, kind: 'EGRESS_DENIED' });
  });

  test('reach another host than the rules allow, by no kind of request', async () => {
    const reached: string[] = [];
    const secret = await serve((request, response) => {
      reached.push(String(request.url));
      response.setHeader('access-control-allow-origin', '*').end('secret');
    });
    const port = new URL(secret).port;
    const udp = createSocket('udp4', () => reached.push('udp')).bind(0, '127.0.0.1');
    await once(udp, 'listening');
    cleanups.push(() => udp.close());
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, `denied.test:${port}`];
    const url = await serve(
      page(`<title>x</title><body><script type=module>
        const tries = [];
        for (const host of ${JSON.stringify(hosts)}) {
          const http = 'http://' + host;
          tries.push(fetch(http + '/fetch', {mode: 'no-cors'}).then(r => r.type), fetch(http + '/cors').then(r => r.text()));
          tries.push(new Promise((ok, no) => { const s = new WebSocket('ws://' + host + '/ws'); s.onopen = ok; s.onerror = no; }));
          navigator.sendBeacon(http + '/beacon', 'x');
          for (const [tag, set] of [['img', 'src'], ['script', 'src'], ['iframe', 'src'], ['link', 'href'], ['object', 'data'], ['video', 'src']]) {
            const e = document.createElement(tag); e[set] = http + '/' + tag; if (tag === 'link') e.rel = 'stylesheet';
            document.body.append(e);
          }
          const pre = document.createElement('link'); pre.rel = 'preconnect'; pre.href = http; document.head.append(pre);
          window.open(http + '/popup');
          new EventSource(http + '/events');
        }
        const worker = new Worker(URL.createObjectURL(new Blob(['fetch("http://${hosts[0]}/worker", {mode: "no-cors"}).finally(() => postMessage(typeof WebTransport))'])));
        tries.push(new Promise(ok => worker.onmessage = e => ok(e.data)));
        // A frame that was just made has what its parent was stripped of.
        const frame = document.body.appendChild(document.createElement('iframe'));
        const Peer = frame.contentWindow.RTCPeerConnection;
        if (Peer) {
          const peer = new Peer({iceServers: [{urls: 'stun:127.0.0.1:${udp.address().port}'}]});
          peer.createDataChannel('x');
          await peer.setLocalDescription(await peer.createOffer());
          await new Promise(ok => { if (peer.iceGatheringState === 'complete') ok(); peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && ok(); });
        }
        tries.push(navigator.serviceWorker?.register('/sw.js'));
        const results = await Promise.allSettled(tries);
        document.title = results.filter(r => r.status === 'fulfilled').map(r => r.value).join();
        document.body.append(Object.assign(document.createElement('p'), {id: 'done', textContent: typeof RTCPeerConnection}));
      </script>`),
    );
    const named = url.replace('127.0.0.1', 'allowed.test');
    const limits = { ...OPEN, network: ['allowed.test'] };
    const outcome = await run('browser.navigate', { url: named, wait_for: '#done', wait_until: 'commit' }, { limits });
    expect(outcome).toMatchObject({ success: true, facts: { observed: { domains: ['allowed.test'] } } });
    expect(reached).toEqual([]);
    expect(outcome).toMatchObject({ payload: { text: expect.stringContaining('undefined') } });
  });

  test.each(['http://denied.test', 'https://denied.test'])('be redirected or go to %s', async (to) => {
    const url = await serve((request, response) => {
      if (request.url === '/redirect') response.writeHead(302, { location: `${to}/` }).end();
      else page(`<script>location = ${JSON.stringify(to)}</script>`)(request, response);
    });
    const limits = { ...OPEN, deny_domains: ['denied.test'] };
    expect(await run('browser.navigate', { url: `${url}/redirect` }, { limits })).toMatchObject({
      success: false,
      kind: 'EGRESS_DENIED',
      facts: { observed: { domains: ['127.0.0.1'] } },
    });
    expect(
      await run('browser.script', { steps: [{ goto: url }, { wait: { url: 'denied' } }, { wait: 'h1' }] }, { limits }),
    ).toMatchObject({
      success: false,
    });
  });

  test('see what an earlier call left', async () => {
    const url = await serve(
      page(
        `<script>document.write(document.cookie + localStorage.getItem('k')); document.cookie='c=1'; localStorage.setItem('k', 'v')</script>`,
      ),
    );
    expect(await run('browser.navigate', { url })).toMatchObject({ payload: { text: 'null' } });
    expect(await run('browser.navigate', { url })).toMatchObject({ payload: { text: 'null' } });
  });

  test('hold a call with dialogs and popups; what they download is kept', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/file') response.setHeader('content-disposition', 'attachment; filename=f.bin').end('x');
      else
        page(
          `<script>alert('hi'); onbeforeunload = () => 'stay'; window.open('/popup')</script><a download href=/file>f</a><b>on</b>`,
        )(request, response);
    });
    const lines: string[] = [];
    const steps = [{ goto: url }, { click: 'a' }, { expect: { selector: 'b', text: 'on' } }];
    const { kept, keep } = keeper();
    const outcome = await run('browser.script', { steps }, { keep, log: (_, text) => lines.push(text) });
    expect(outcome).toMatchObject({ success: true, artifacts: [{ name: 'f.bin' }] });
    expect(kept[0]?.bytes.toString()).toBe('x');
    expect(lines.join('')).toMatch(/alert dismissed: hi/);
    expect(await run('browser.navigate', { url: `${url}/file` })).toMatchObject({
      success: false,
      kind: 'TOOL_ERROR',
      artifacts: [{ name: 'f.bin' }],
    });
  });

  test('load more than the call may receive', async () => {
    const url = await serve((_, response) =>
      response.setHeader('content-type', 'text/html').end('x'.repeat(1_000_000)),
    );
    const limits = { ...OPEN, max_response_bytes: 100_000 };
    expect(await run('browser.navigate', { url }, { limits })).toMatchObject({
      success: false,
      error: expect.stringMatching(/more than/),
    });
  });
});

test.skipIf(process.getuid?.() !== 0)(
  'without any sandbox pages open, unless the policy requires one, and the result says so',
  async () => {
    const bare = createBrowserRunner({ egress: createEgress({ resolve: async () => ['127.0.0.1'] }), path: '' });
    cleanups.push(() => bare.close?.());
    const url = await serve(page('<p>here'));
    const call = (sandbox?: 'required') =>
      bare.run(
        testCall(testDescriptor({ tool_id: 'browser.navigate', runner: 'browser', risk: 'MED' }), {
          inputs: { url },
          limits: { ...OPEN, sandbox },
        }),
      );
    expect(await call('required')).toMatchObject({
      kind: 'SANDBOX_UNAVAILABLE',
      error: expect.stringContaining('bubblewrap'),
    });
    expect(await call()).toMatchObject({ success: true, facts: { sandbox: 'process' } });
  },
  60_000,
);

test('a page in an endless loop ends with its call, and the next call gets a healthy browser', async () => {
  const stop = new AbortController();
  const url = await serve((request, response) => {
    if (request.url === '/looping') stop.abort(new Error('deadline'));
    page(`<script>const r = new XMLHttpRequest(); r.open('GET', '/looping', false); r.send(); for (;;);</script>`)(
      request,
      response,
    );
  });
  await expect(run('browser.navigate', { url }, { signal: stop.signal })).rejects.toThrow('deadline');
  const next = await serve(page('<b>healthy</b>'));
  expect(await run('browser.navigate', { url: next })).toMatchObject({ success: true, payload: { text: 'healthy' } });
});

test('a picture and a PDF become artifacts', async () => {
  const url = await serve(page('<h1 id=h>Picture</h1><div style="height: 30000px"></div>'));
  const { kept, keep } = keeper();
  const outcome = await run(
    'browser.screenshot',
    { url, full_page: true, viewport: { width: 200, height: 100 } },
    { keep },
  );
  expect(outcome).toMatchObject({
    success: true,
    payload: { artifact: { name: 'screenshot.png' } },
    artifacts: [{ media_type: 'image/png' }],
  });
  await run('browser.screenshot', { url, selector: '#h', format: 'jpeg' }, { keep });
  await run('browser.pdf', { url, format: 'A5' }, { keep });
  expect(kept.map(({ name }) => name)).toEqual(['screenshot.png', 'screenshot.jpg', 'page.pdf']);
  // PNG's header has width and height.
  expect([kept[0]?.bytes.readUInt32BE(16), kept[0]?.bytes.readUInt32BE(20)]).toEqual([200, 16_384]);
  expect(kept[2]?.bytes.subarray(0, 5).toString()).toBe('%PDF-');
});

test('values are taken out of a page by selectors', async () => {
  const url = await serve(page('<ul><li class=a>1</li><li class=a>2</li></ul><a href="/x" title=T>x</a>'));
  const selectors = {
    first: '.a',
    all: { selector: '.a', all: true },
    title: { selector: 'a', attribute: 'title' },
    none: '.none',
  };
  expect(await run('browser.extract', { url, selectors })).toMatchObject({
    payload: { data: { first: '1', all: ['1', '2'], title: 'T', none: null } },
  });
});

describe('browser.script', () => {
  const FORM = `<title>Form</title><form action=/done><input name=user><input name=pass type=password><button>Go</button></form>`;

  test('fills, presses, waits, expects and takes pictures, with secrets by reference', async () => {
    const asked: string[] = [];
    const url = await serve((request, response) => {
      asked.push(String(request.url));
      page(request.url?.startsWith('/done') ? '<title>Done</title><h1>Welcome</h1>' : FORM)(request, response);
    });
    const { kept, keep } = keeper();
    const steps = [
      { action: 'goto', url },
      { action: 'fill', selector: '[name=user]', value: 'ann' },
      { fill: { selector: '[name=pass]', value: 'secret://login' } },
      { press: { selector: '[name=pass]', key: 'Enter' } },
      { wait: 'h1' },
      { expect: { selector: 'h1', text: 'Welcome', visible: true, count: 1, url: '/done', title: 'Done' } },
      { screenshot: 'end' },
    ];
    const outcome = await run('browser.script', { steps }, { keep, secret: async () => 'pa55word' });
    expect(outcome).toMatchObject({ success: true, payload: { title: 'Done' }, artifacts: [{ name: 'end.png' }] });
    expect(asked).toContain('/done?user=ann&pass=pa55word');
    expect(kept).toHaveLength(1);
  });

  test('stops at the step that fails, and names it', async () => {
    const url = await serve(page(FORM));
    const steps = [{ goto: url }, { expect: { selector: 'h1', text: 'No', timeout_ms: 200 } }, { click: 'button' }];
    expect(await run('browser.script', { steps })).toMatchObject({
      success: false,
      kind: 'TOOL_ERROR',
      error: 'step 2, expect: h1 does not say "No"',
      payload: {
        steps: [
          { action: 'goto', ok: true },
          { action: 'expect', ok: false },
        ],
      },
    });
  });

  test.each([[[]], [[{ click: 'a' }]], [[{ goto: 'http://a.test' }, { dance: 1 }]]])(
    'refuses steps %j',
    async (steps) => {
      expect(await run('browser.script', { steps })).toMatchObject({ success: false, kind: 'INVALID_INPUTS' });
    },
  );
});
