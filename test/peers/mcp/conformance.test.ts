import { beforeAll, describe, expect, test } from 'vitest';
import { startLineProcess } from '../../fixtures/start-line-process.js';
import { tempDir } from '../../fixtures/temp-dir.js';
import { inPackage, NODE, startFixture, startKeyedProxy } from './start-fixture.js';

const SUITE = inPackage('@modelcontextprotocol/conformance', 'dist/index.js');
const SUITE_MS = 240_000;

/** No list of expected failures: everything that the suite has for servers applies to a gateway with the fixture behind it. */
const TASKS = [
  ...['tasks-lifecycle', 'tasks-capability-negotiation', 'tasks-wire-fields', 'tasks-request-state-removal'],
  ...['tasks-mrtr-input', 'tasks-request-headers', 'tasks-dispatch-and-envelope', 'tasks-status-notifications'],
  ...['tasks-required-task-error', 'tasks-mrtr-composition'],
];

/** Throws with all that the suite said unless it passes. */
async function runSuite(url: string, ...args: string[]): Promise<string> {
  const suite = await startLineProcess({
    command: [NODE, SUITE, 'server', '--url', url, ...args],
    env: { PATH: process.env.PATH ?? '' },
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
    'passes at the endpoint with every scenario that it has for servers',
    async () => {
      const said = await runSuite(url, '--suite', 'all', '--spec-version', spec);
      expect(said).toMatch(/Total: \d{2,} passed, 0 failed/);
    },
    SUITE_MS,
  );

  test.skipIf(era === 'legacy').each(TASKS)('passes with the scenario %s of the tasks extension', async (scenario) => {
    await runSuite(url, '--scenario', scenario, '--spec-version', spec, '--force');
  });
});
