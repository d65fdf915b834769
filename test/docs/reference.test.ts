import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { describeCommands } from '../../packages/cli/dist/describe-commands.js';
import { findRepository } from '../fixtures/find-repository.js';
import { startSystem } from '../flow/start-system.js';
import { cliReference } from './cli-reference.js';
import { errorReference } from './error-reference.js';
import { httpReference } from './http-reference.js';
import { metricReference } from './metric-reference.js';
import { packageReference } from './package-reference.js';
import { stateReference } from './state-reference.js';
import { tableReference } from './table-reference.js';
import { toolReference } from './tool-reference.js';

// `npm run docs` regenerates these pages.
const page = (path: string) => fileURLToPath(new URL(`docs/${path}.md`, findRepository()));

let started: ReturnType<typeof startSystem>;
beforeAll(() => {
  started = startSystem({ name: 'postgres' });
});

test('the error reference lists the failures that the code declares', async () => {
  await expect(errorReference()).toMatchFileSnapshot(page('reference/errors'));
});

test('the reference of tools lists what is built in', async () => {
  await expect(toolReference()).toMatchFileSnapshot(page('reference/tools'));
});

test('the page of states shows the legal moves', async () => {
  await expect(stateReference()).toMatchFileSnapshot(page('internals/states'));
});

test('the command reference describes the commands as they describe themselves', async () => {
  await expect(cliReference(await describeCommands())).toMatchFileSnapshot(page('reference/cli'));
});

test('the page of packages shows what depends on what', async () => {
  await expect(packageReference()).toMatchFileSnapshot(page('internals/packages'));
});

test('the page of tables shows the schema that the migrations make', async () => {
  const { database } = await started;
  await expect(await tableReference(database.url)).toMatchFileSnapshot(page('internals/tables'));
});

test('the reference of metrics lists what the services declare, and whether to take the sum or the max', async () => {
  const { store } = await started;
  await expect(metricReference(store)).toMatchFileSnapshot(page('reference/metrics'));
});

test('the HTTP reference lists the routes that the gateway serves', async () => {
  const { url } = await started;
  const document = await (await fetch(`${url}/openapi.json`)).json();
  await expect(httpReference(document)).toMatchFileSnapshot(page('reference/http'));
});
