import type { JsonObject } from '@capstan/contracts';
import { expect, test } from 'vitest';
import { ADMIN_KEY, startSystem } from './start-system.js';

type Operation = {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  requestBody?: {
    content: {
      'application/json'?: {
        schema: { properties?: Record<string, { description?: string }> };
        examples?: { typical: { value: JsonObject } };
      };
    };
  };
};

const { url } = await startSystem({ name: 'postgres' });
type OpenApi = {
  info: object;
  paths: Record<string, Record<string, Operation>>;
  tags: { name: string }[];
  servers: unknown[];
};
const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

test('every operation has a readable and unique name, a summary, and a tag that is described', () => {
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]*)*$/.test(id))).toEqual([]);
  expect(ids).toEqual(
    expect.arrayContaining([
      'submitInvocation',
      'getInvocation',
      'listRunSteps',
      'cancelRun',
      'releaseHold',
      'putPolicy',
    ]),
  );
  const tags = document.tags.map(({ name }) => name);
  expect(operations.filter(({ tags: [tag], summary }) => !tags.includes(tag ?? '') || summary === '')).toEqual([]);
  expect(operations.filter(({ summary, description }) => !description.startsWith(`${summary}. `))).toEqual([]);
  expect(document).toMatchObject({ info: { contact: {} }, servers: [{}] });
});

test('the fields of a submission are described, in the document and on the page', async () => {
  const body = operations.find(({ operationId }) => operationId === 'submitInvocation')?.requestBody;
  const fields = Object.entries(body?.content['application/json']?.schema.properties ?? {});
  expect(fields.length).toBeGreaterThan(10);
  expect(fields.filter(([, { description = '' }]) => description === '')).toEqual([]);
  const page = await (await fetch(`${url}/reference`)).text();
  expect(page).toContain('planning denies every tool that does more than read');
});

test('every request example is accepted by its own route', async () => {
  const shown = operations.flatMap(({ method, path, requestBody }) => {
    const value = requestBody?.content['application/json']?.examples?.typical.value;
    return value === undefined ? [] : [{ method, path, value }];
  });
  expect(shown.length).toBeGreaterThan(8);
  for (const { method, path, value } of shown) {
    const response = await fetch(url + path, {
      method: method.toUpperCase(),
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(value),
    });
    expect({ path, status: response.status, says: response.ok ? '' : await response.text() }).toMatchObject({
      path,
      says: '',
    });
  }
});

test('/reference shows every operation on a page that has no scripts and loads nothing', async () => {
  const response = await fetch(`${url}/reference`);
  const page = await response.text();
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(response.headers.get('content-type')).toContain('text/html');
  expect(operations.filter(({ operationId }) => !page.includes(`id="${operationId}"`))).toEqual([]);
  expect(page).not.toMatch(/<script|<link|src=|https?:\/\/(?!json-schema)/);
});
