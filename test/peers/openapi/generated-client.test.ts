import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import openapiTS, { astToString } from 'openapi-typescript';
import { beforeAll, expect, test } from 'vitest';
import { tempDir } from '../../fixtures/temp-dir.js';
import { startSystem } from '../../flow/start-system.js';

const run = promisify(execFile);
const TSC = join(import.meta.dirname, '../../../node_modules/.bin/tsc');

let text = '';
beforeAll(async () => {
  const { url } = await startSystem({ name: 'postgres' });
  text = await (await fetch(`${url}/openapi.json`)).text();
});

test('a linter finds no errors and no warnings in the OpenAPI description', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
  expect(problems.map(({ ruleId, message, location: [at] }) => `${ruleId}: ${message} ${at?.pointer}`)).toEqual([]);
});

test('a client generated from the OpenAPI description type-checks, and has operations by name', async () => {
  const folder = await tempDir();
  await writeFile(join(folder, 'capstan.ts'), astToString(await openapiTS(JSON.parse(text))));
  await writeFile(
    join(folder, 'use.ts'),
    `import type { components, operations } from './capstan.js';
type Body = operations['submitInvocation']['requestBody']['content']['application/json'];
export const body: Body = { tool_id: 'cap:test_math:add', inputs: { a: 2, b: 3 } };
export const hash = (invocation: components['schemas']['Invocation']): string => invocation.input_hash;
// @ts-expect-error: every call names its tool
export const wrong: Body = { inputs: {} };
`,
  );
  await run(TSC, ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', join(folder, 'use.ts')]);
});
