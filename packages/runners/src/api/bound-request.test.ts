import type { Binding } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { serve } from '../testing/serve.js';
import { echo, useTestApi } from './testing/use-test-api.js';

const run = useTestApi();

describe('a request of an extension', () => {
  const binding = (over: object): Binding => ({ kind: 'request', extension_id: 'x', method: 'GET', ...over });

  test('inputs are filled into the template, each as a single value', async () => {
    const url = await serve(echo);
    const request = binding({
      method: 'post',
      url: `${url}/users/{{id}}/notes`,
      headers: { 'X-Tag': '{{tag}}', 'X-None': '{{none}}' },
      query: { q: '{{q}}' },
      body: { text: 'Re: {{q}}', count: '{{count}}', none: '{{none}}', list: ['{{id}}'] },
    });
    const inputs = { id: '../a?b#c', tag: 't', q: 'x&y="1"', count: 3 };
    const outcome = await run('ext:x:note', inputs, {}, request);
    expect(outcome).toMatchObject({
      payload: {
        body: { method: 'POST', url: '/users/..%2Fa%3Fb%23c/notes?q=x%26y%3D%221%22', headers: { 'x-tag': 't' } },
      },
    });
    expect(outcome).toMatchObject({
      payload: {
        body: {
          headers: expect.not.objectContaining({ 'x-none': expect.anything() }),
          body: JSON.stringify({ text: 'Re: x&y="1"', count: 3, list: ['../a?b#c'] }),
        },
      },
    });
  });

  test('lists and objects in the URL and in headers are written in the style that the request names', async () => {
    const url = await serve(echo);
    const named = ['ids', 'fields', 'words', 'created', 'filter', 'where', 'tags', 'none'];
    const request = binding({
      url: `${url}/pets/{{ids}}`,
      headers: { 'X-Ids': '{{ids}}' },
      query: Object.fromEntries(named.map((name) => [name, `{{${name}}}`])),
      styles: {
        ids: 'comma',
        words: 'space',
        fields: 'pipe',
        created: 'fields',
        filter: 'deep',
        where: 'json',
        none: 'deep',
      },
    });
    const inputs = {
      ids: [1, 2],
      words: ['a', 'b'],
      fields: { r: 1 },
      created: { gt: 5, by: ['x', 'y'] },
      filter: { price: { gt: 5 }, tags: ['x'], rows: [{ n: 1 }] },
      where: ['a'],
      tags: ['a&b', 'c'],
    };
    const outcome = await run('ext:x:find', inputs, {}, request);
    if (!outcome.success) throw new Error(outcome.error);
    const { url: asked, headers } = (outcome.payload as { body: { url: string; headers: object } }).body;
    expect(asked.split('?')[0]).toBe('/pets/1%2C2');
    expect(headers).toMatchObject({ 'x-ids': '1,2' });
    expect([...new URL(asked, url).searchParams]).toEqual([
      ['ids', '1,2'],
      ['fields', 'r|1'],
      ['words', 'a b'],
      ['gt', '5'],
      ['by', 'x'],
      ['by', 'y'],
      ['filter[price][gt]', '5'],
      ['filter[tags][]', 'x'],
      ['filter[rows][0][n]', '1'],
      ['where', '["a"]'],
      ['tags', 'a&b'],
      ['tags', 'c'],
    ]);
  });

  test('a body of JSON text is filled as JSON', async () => {
    const url = await serve(echo);
    const request = binding({ method: 'POST', url, body: '{"a": "{{a}}"}' });
    const outcome = await run('ext:x:y', { a: '", "admin": true, "b": "' }, {}, request);
    expect(outcome).toMatchObject({ payload: { body: { body: JSON.stringify({ a: '", "admin": true, "b": "' }) } } });
  });

  test.each([['..'], ['.']])('%s in an input cannot change the path', async (id) => {
    const url = await serve(echo);
    const request = binding({ url: `${url}/users/{{id}}/x` });
    expect(await run('ext:x:y', { id }, {}, request)).toMatchObject({ kind: 'INVALID_INPUTS' });
  });

  test('without an address of its own it uses the typed one', async () => {
    const url = await serve(echo);
    expect(await run('ext:x:get', { args: [`${url}/typed`] }, {}, binding({}))).toMatchObject({
      payload: { body: { url: '/typed' } },
    });
  });

  test('an action that runs a native tool uses the presets of the extension', async () => {
    const url = await serve(echo);
    const action: Binding = { kind: 'action', extension_id: 'x', action: 'api.call', preset: { method: 'DELETE' } };
    expect(await run('ext:x:del', { url, method: 'GET' }, {}, action)).toMatchObject({
      payload: { body: { method: 'DELETE' } },
    });
  });
});
