import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { keeper } from '../testing/keeper.js';
import { serve } from '../testing/serve.js';
import { testCall, testDescriptor } from '../testing/test-call.js';
import { createBrowserRunner } from './create-browser-runner.js';
import { loopback, OPEN, page, useTestBrowser } from './testing/use-test-browser.js';

const MIB = 1024 ** 2;
const run = useTestBrowser({ max_file_bytes: 32 * MIB });

describe('a page cannot', () => {
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

  test('reach hosts that the rules do not allow, with any kind of request', async () => {
    const reached: string[] = [];
    const secret = await serve((request, response) => {
      reached.push(String(request.url));
      response.setHeader('access-control-allow-origin', '*').end('secret');
    });
    const port = new URL(secret).port;
    const udp = createSocket('udp4', () => reached.push('udp')).bind(0, '127.0.0.1');
    await once(udp, 'listening');
    onTestFinished(() => void udp.close());
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

  test('see data of an earlier call', async () => {
    const url = await serve(
      page(
        `<script>document.write(document.cookie + localStorage.getItem('k')); document.cookie='c=1'; localStorage.setItem('k', 'v')</script>`,
      ),
    );
    expect(await run('browser.navigate', { url })).toMatchObject({ payload: { text: 'null' } });
    expect(await run('browser.navigate', { url })).toMatchObject({ payload: { text: 'null' } });
  });

  test('block a call with dialogs and popups; downloads of popups are saved', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/file') response.setHeader('content-disposition', 'attachment; filename=f.bin').end('x');
      else
        page(
          `<script>alert('hi'); onbeforeunload = () => 'stay'; window.open('/popup')</script><a download href=/file>f</a><b>on</b>`,
        )(request, response);
    });
    const lines: string[] = [];
    const steps = [
      { goto: url },
      { click: 'a' },
      { wait: { download: true } },
      { expect: { selector: 'b', text: 'on' } },
    ];
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

  test('fill the disk with highly compressed data', async () => {
    const packed = gzipSync(Buffer.alloc(48 * MIB), { level: 1 });
    const url = await serve((_, response) =>
      response
        .writeHead(200, { 'content-disposition': 'attachment; filename=bomb', 'content-encoding': 'gzip' })
        .end(packed),
    );
    const { kept, keep } = keeper();
    expect(await run('browser.navigate', { url }, { keep })).toMatchObject({
      success: false,
      error: 'the address is a download, not a page',
    });
    expect(kept).toEqual([]);
    expect(await run('browser.navigate', { url: await serve(page('next')) })).toMatchObject({ success: true });
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
    const bare = createBrowserRunner({ egress: loopback(), path: '' });
    onTestFinished(() => bare.close?.());
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
    expect(await call()).toMatchObject({ success: true, facts: { sandbox: expect.stringMatching(/^process/) } });
  },
);
