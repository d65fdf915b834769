import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startLineProcess } from '../../fixtures/start-line-process.js';
import { tempDir } from '../../fixtures/temp-dir.js';
import { ADMIN_KEY, startSystem } from '../../flow/start-system.js';
import { allowAll, inPackage, NODE, startFixture, startKeyedProxy } from './start-fixture.js';

const SUITE = inPackage('@modelcontextprotocol/conformance', 'dist/index.js');
const CLIENT = join(import.meta.dirname, 'conformance-client.ts');
const SUITE_MS = 240_000;
/** For all client scenarios, which run at once. */
const CLIENT_MS = 120_000;

/**
 * There is no list of expected failures: everything in the suite for servers applies to a gateway with the fixture behind it, and
 * everything for clients to a gateway that calls its servers. Of the extensions, those that Capstan supports are run: tasks. The
 * others are further ways to get tokens (client credentials, enterprise-managed authorization, DPoP, workload identity) and skills.
 */
const TASKS = [
  ...['tasks-lifecycle', 'tasks-capability-negotiation', 'tasks-wire-fields', 'tasks-request-state-removal'],
  ...['tasks-mrtr-input', 'tasks-request-headers', 'tasks-dispatch-and-envelope', 'tasks-status-notifications'],
  ...['tasks-required-task-error', 'tasks-mrtr-composition'],
];

/** Throws with the output of the suite unless it passes. */
async function runSuite(args: string[], env: Record<string, string> = {}): Promise<string> {
  const suite = await startLineProcess({
    command: [NODE, SUITE, ...args],
    env: { PATH: process.env.PATH ?? '', ...env },
    cwd: await tempDir(),
  });
  const { code } = await suite.exited;
  const said = [...suite.stdout, ...suite.stderr].join('\n');
  expect(code, said).toBe(0);
  return said;
}

describe.each([
  { spec: '2025-11-25', era: 'legacy' },
  { spec: '2026-07-28', era: 'modern' },
] as const)('The conformance suite of $spec', ({ spec, era }) => {
  let url = '';
  beforeAll(async () => {
    const system = await startFixture(era);
    url = `${await startKeyedProxy(system.url)}/mcp/conformance`;
  });

  test(
    'passes every scenario for servers at the endpoint',
    async () => {
      const said = await runSuite(['server', '--url', url, '--suite', 'all', '--spec-version', spec]);
      expect(said).toMatch(/Total: \d{2,} passed, 0 failed/);
    },
    SUITE_MS,
  );

  test.skipIf(era === 'legacy').each(TASKS)('passes the scenario %s of the tasks extension', async (scenario) => {
    await runSuite(['server', '--url', url, '--scenario', scenario, '--spec-version', spec, '--force']);
  });

  test(
    'passes every applicable scenario for clients with Capstan as the client',
    async () => {
      const system = await startSystem(
        { name: 'postgres' },
        { gateway: { public_url: 'https://conformance-test.local' } },
      );
      await allowAll(system);
      const said = await runSuite(
        [
          ...['client', '--command', `${NODE} --no-warnings ${CLIENT}`, '--suite', 'all', '--spec-version', spec],
          ...['--timeout', String(CLIENT_MS)],
        ],
        { CAPSTAN_URL: system.url, CAPSTAN_API_KEY: ADMIN_KEY },
      );
      expect(said).toMatch(/Total: \d{2,} passed/);
    },
    SUITE_MS,
  );
});
