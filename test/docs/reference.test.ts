import { fileURLToPath } from 'node:url';
import { describeCommands } from '@capstan/cli';
import { expect, test } from 'vitest';
import { findRepository } from '../fixtures/find-repository.js';
import { startSystem } from '../flow/start-system.js';
import { cliReference } from './cli-reference.js';
import { errorReference } from './error-reference.js';
import { httpReference } from './http-reference.js';

// `npm run docs` writes these pages anew.
const page = (name: string) => fileURLToPath(new URL(`docs/reference/${name}.md`, findRepository()));

test('the error reference lists the failures that the code declares', async () => {
  await expect(errorReference()).toMatchFileSnapshot(page('errors'));
});

test('the command reference describes the commands as they describe themselves', async () => {
  await expect(cliReference(await describeCommands())).toMatchFileSnapshot(page('cli'));
});

test('the HTTP reference lists the routes that the gateway serves', async () => {
  const { url } = await startSystem({ name: 'postgres' });
  const document = await (await fetch(`${url}/openapi.json`)).json();
  await expect(httpReference(document)).toMatchFileSnapshot(page('http'));
});
