import type { Binding } from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import { describe, expect, test } from 'vitest';
import { keeper } from '../testing/keeper.js';
import { serve, startServer } from '../testing/serve.js';
import { page, useTestBrowser } from './testing/use-test-browser.js';

const run = useTestBrowser();

describe('browser.navigate', () => {
  const PAGE = `<title>Home</title><h1>Hello</h1><p id=p>static</p><a href="/next">next</a><a href="javascript:x()">no</a>
    <script>document.getElementById('p').textContent = 'made by a script'</script>`;

  test('returns the title, the address, the status, the text after scripts have run, and the links', async () => {
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

  test('returns markdown', async () => {
    const url = await serve(page(PAGE));
    const outcome = await run('browser.navigate', { url, format: 'markdown', wait_until: 'domcontentloaded' });
    expect(outcome).toMatchObject({ payload: { markdown: expect.stringMatching(/^# Hello\n\nmade by a script/) } });
  });

  test('waits for content that appears later', async () => {
    const url = await serve(
      page(
        `<script>setTimeout(() => document.body.append(Object.assign(document.createElement('b'), {id: 'late', textContent: 'late'})), 100)</script>`,
      ),
    );
    expect(await run('browser.navigate', { url, wait_for: '#late' })).toMatchObject({ payload: { text: 'late' } });
  });

  test('an action of an extension uses the presets of the extension', async () => {
    const url = await serve(page('<b>set</b>'));
    const binding: Binding = { kind: 'action', extension_id: 'x', action: 'browser.navigate', preset: { url } };
    expect(await run('ext:x:open', {}, {}, binding)).toMatchObject({ success: true, payload: { text: 'set' } });
  });

  test('an unreachable server is a network failure', async () => {
    const { url, close } = await startServer(() => {});
    close();
    expect(await run('browser.navigate', { url })).toMatchObject({ success: false, kind: 'EGRESS_FAILED' });
  });

  test.each([{}, { url: 'http://a.test', nope: 1 }, { url: 'http://a.test', wait_until: 'never' }])(
    'refuses inputs %j',
    async (inputs) => {
      expect(await run('browser.navigate', inputs)).toMatchObject({ success: false, kind: 'INVALID_INPUTS' });
    },
  );
});

test('a page in an endless loop ends with its call, and the next call gets a healthy browser', async () => {
  const stop = new AbortController();
  const url = await serve((request, response) => {
    if (request.url === '/looping') stop.abort(new Error('deadline'));
    page(`<script>const r = new XMLHttpRequest(); r.open('GET', '/looping', false); r.send(); for (;;);</script>`)(
      request,
      response,
    );
  });
  expect(await run('browser.navigate', { url }, { signal: stop.signal })).toMatchObject({
    success: false,
    facts: { observed: { domains: ['127.0.0.1'] } },
  });
  const next = await serve(page('<b>healthy</b>'));
  expect(await run('browser.navigate', { url: next })).toMatchObject({ success: true, payload: { text: 'healthy' } });
});

test('a screenshot and a PDF become artifacts', async () => {
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

test('values are extracted from a page by selectors', async () => {
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

  test('fills, presses, waits, expects and takes screenshots, with secrets by reference', async () => {
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

  test('that is stopped reports the completed steps and their artifacts', async () => {
    const stop = new AbortController();
    const url = await serve((request, response) => {
      if (request.url === '/never') stop.abort(new Error('deadline'));
      else page(FORM)(request, response);
    });
    const { keep } = keeper();
    const steps = [{ goto: url }, { screenshot: 'begin' }, { goto: `${url}/never` }, { click: 'button' }];
    expect(await run('browser.script', { steps }, { keep, signal: stop.signal })).toMatchObject({
      success: false,
      payload: {
        steps: [
          { action: 'goto', ok: true },
          { action: 'screenshot', ok: true },
        ],
      },
      artifacts: [{ name: 'begin.png' }],
      facts: { observed: { domains: ['127.0.0.1'] } },
    });
  });

  test('logs addresses and steps as they happen, without queries and secrets', async () => {
    const url = await serve((request, response) => {
      // Some versions of Chromium ask for an icon.
      if (request.url !== '/favicon.ico') lines.push(`(${request.url})`);
      page(request.url === '/done' ? '<h1>Done</h1>' : `<a href=/done>x</a><script>alert('pa55word-of-ann')</script>`)(
        request,
        response,
      );
    });
    const { host } = new URL(url);
    const lines: string[] = [];
    const redact = createRedactor({ values: ['pa55word-of-ann'] });
    const steps = [{ goto: `${url}/begin?key=1` }, { click: 'a' }, { wait: 'h1' }];
    await run('browser.script', { steps }, { redact, log: (_, line) => lines.push(line) });
    expect(lines.slice(0, 6)).toEqual([
      `opening ${host}/begin\n`,
      '(/begin?key=1)',
      `at ${host}/begin\n`,
      `alert dismissed: ${redact.text('pa55word-of-ann')}\n`,
      'answered 200\n',
      'step 1, goto: ok\n',
    ]);
    // A click does not wait for where it leads to.
    expect(lines.slice(6, -1).sort()).toEqual(['(/done)', `at ${host}/done\n`, 'step 2, click: ok\n']);
    expect(lines.at(-1)).toBe('step 3, wait: ok\n');
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
