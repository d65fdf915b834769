import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import type { Call } from '../runner.js';
import { serve } from '../testing/serve.js';
import { createConverter } from './html/create-converter.js';
import { useTestApi } from './testing/use-test-api.js';
import { createWebFetch } from './web-fetch.js';

const run = useTestApi({
  web_fetch: createWebFetch({ first_byte_ms: 1000, body_ms: 200 }),
  converter: createConverter({ timeout_ms: 3000 }),
});

describe('web_fetch', () => {
  const fetchPage = (inputs: JsonObject, over: Partial<Call> = {}) => run('cap:web_fetch:web_fetch', inputs, over);
  const PAGE =
    '<!doctype html><html><head><title>T</title><style>p{}</style></head><body><h1>Head</h1><script>bad()</script>' +
    '<p>Some <b>bold</b> <a href="/x">link</a></p><ul><li>one</li></ul><pre><code>let a;</code></pre></body></html>';
  const html =
    (body: string | Buffer, headers = {}): RequestListener =>
    (_, response) =>
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);

  test('HTML becomes markdown, without scripts and styles', async () => {
    const url = await serve(html(PAGE));
    const outcome = await fetchPage({ url, as_markdown: true, as_text: true });
    expect(outcome).toMatchObject({
      success: true,
      payload: {
        url,
        status_code: 200,
        content_type: 'text/html; charset=utf-8',
        size: PAGE.length,
        format: 'markdown',
        truncated: false,
      },
    });
    const content = '# Head\n\nSome **bold** [link](/x)\n\n- one\n\n```\nlet a;\n```';
    expect(outcome).toMatchObject({ payload: { content } });
  });

  test('HTML becomes text, or stays HTML', async () => {
    const url = await serve(html(gzipSync(PAGE), { 'content-encoding': 'gzip' }));
    expect(await fetchPage({ url, as_text: true })).toMatchObject({
      payload: { format: 'text', content: expect.stringMatching(/^Head\n\nSome bold link/) },
    });
    expect(await fetchPage({ url })).toMatchObject({ payload: { format: 'raw', content: PAGE, size: PAGE.length } });
  });

  test('binary content returns metadata and an explanation', async () => {
    const url = await serve((_, response) =>
      response
        .writeHead(200, {
          'content-type': 'application/pdf',
          'content-length': '3',
          'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT',
          'content-disposition': `attachment; filename="a/b;c.pdf"; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf`,
        })
        .end('pdf'),
    );
    expect(await fetchPage({ url })).toEqual({
      success: true,
      truncated: false,
      payload: {
        url,
        method: 'GET',
        status_code: 200,
        content_type: 'application/pdf',
        size: 3,
        last_modified: 'Mon, 01 Jan 2024 00:00:00 GMT',
        filename: 'résumé.pdf',
        error: expect.stringContaining('Binary content is not supported'),
      },
      facts: { observed: { domains: ['127.0.0.1'] } },
    });
  });

  test('binary content without a length is counted', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/pdf' }).write('pd');
      response.end('f');
    });
    expect(await fetchPage({ url })).toMatchObject({ payload: { size: 3, error: expect.stringMatching(/^Binary/) } });
  });

  test('HEAD without a length reports no size', async () => {
    const url = await serve((_, response) => response.writeHead(200, { 'transfer-encoding': 'chunked' }).end());
    const outcome = await fetchPage({ url, method: 'HEAD' });
    expect(outcome).toMatchObject({ success: true, payload: { method: 'HEAD' } });
    expect(outcome).not.toHaveProperty('payload.size');
  });

  test('list items have one space after their marker, and nested lists are indented', async () => {
    const list =
      '<ul><li>a<ul><li>b</li></ul></li><li><p>c</p><p>d</p></li></ul><ol start="9"><li>e</li><li>f<br>g</li></ol>';
    const url = await serve(html(list));
    expect(await fetchPage({ url, as_markdown: true })).toMatchObject({
      payload: { content: '- a\n  - b\n- c\n\n  d\n\n9. e\n10. f  \n    g' },
    });
  });

  test('HEAD has no content, and the name of a file may come from the URL', async () => {
    const url = await serve((request, response) =>
      response
        .writeHead(request.method === 'HEAD' ? 200 : 500, { 'content-type': 'text/plain', 'content-length': '12' })
        .end(),
    );
    const outcome = await fetchPage({ url: `${url}/docs/read%20me.txt`, method: 'HEAD' });
    expect(outcome).toMatchObject({ payload: { method: 'HEAD', status_code: 200, size: 12, filename: 'read me.txt' } });
    expect(outcome).not.toHaveProperty('payload.content');
  });

  test('a body that does not end returns what was received, and reports that', async () => {
    const url = await serve((_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).write('begin'));
    expect(await fetchPage({ url })).toMatchObject({
      success: true,
      truncated: true,
      payload: { truncated: true, content: expect.stringMatching(/^begin\s*\[\.\.more content timed out\.\.\.\]$/) },
    });
  });

  test('a server that does not respond within a second fails', async () => {
    const url = await serve(() => {});
    expect(await fetchPage({ url })).toMatchObject({ success: false, error: 'server did not respond within 1 second' });
  });

  test.each(['ftp://a/', 'nonsense', 'http://'])('refuses the URL %s', async (url) => {
    expect(await fetchPage({ url })).toMatchObject({ success: false, kind: 'INVALID_INPUTS' });
  });

  test('a page with extreme nesting is returned unconverted, and does not delay others', async () => {
    const deep = fetchPage({ url: await serve(html('<div>'.repeat(200_000))), as_markdown: true });
    const plain = fetchPage({ url: await serve(html('<b>x</b>')), as_markdown: true });
    expect(await Promise.race([deep, plain])).toMatchObject({ payload: { content: '**x**', format: 'markdown' } });
    expect(await deep).toMatchObject({ success: true, payload: { format: 'raw' } });
  });

  test('the cells of a table are separated, also in layout tables', async () => {
    const table =
      '<table><thead><tr><th>Name</th><th>Size</th></tr></thead><tbody><tr><td>a|b</td><td><b>1</b></td></tr></tbody></table>';
    const url = await serve(html(table));
    const markdown = '| Name | Size |\n| --- | --- |\n| a\\|b | **1** |';
    expect(await fetchPage({ url, as_markdown: true })).toMatchObject({ payload: { content: markdown } });
    expect(await fetchPage({ url, as_text: true })).toMatchObject({
      payload: { content: 'Name\tSize\na|b\t1' },
    });
    const layout = await serve(html('<table><tr><td><ul><li>menu</ul><td><h1>Head</h1></table>'));
    expect(await fetchPage({ url: layout, as_markdown: true })).toMatchObject({
      payload: { content: '- menu\n\n# Head' },
    });
  });

  test('a running conversion ends with its call, and the next page is converted', async () => {
    const long = await serve(html(`<ul>${'<li><b>x</b> and <i>y</i></li>'.repeat(50_000)}</ul>`));
    const stop = new AbortController();
    const log: Call['log'] = (_, line) => {
      if (line.startsWith('answered 200')) setImmediate(() => stop.abort(new Error('canceled')));
    };
    const stopped = await fetchPage({ url: long, as_markdown: true }, { signal: stop.signal, log });
    expect(stopped).toMatchObject({ kind: 'CANCELED', facts: { observed: { domains: ['127.0.0.1'] } } });
    const url = await serve(html('<b>x</b>'));
    expect(await fetchPage({ url, as_markdown: true })).toMatchObject({ payload: { content: '**x**' } });
  });

  test.each([
    { type: 'text/plain; charset=iso-8859-1', bytes: Buffer.from('é', 'latin1') },
    { type: 'text/plain', bytes: Buffer.from('\ufeffé', 'utf16le') },
    { type: 'text/plain; charset=iso-8859-1', bytes: Buffer.from('\ufeffé') },
  ])('other encodings are read by their name, or by how they begin: %j', async ({ type, bytes }) => {
    const url = await serve((_, response) => response.writeHead(200, { 'content-type': type }).end(bytes));
    expect(await fetchPage({ url })).toMatchObject({ payload: { content: 'é' } });
  });
});
