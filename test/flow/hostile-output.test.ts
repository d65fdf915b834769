import { beforeAll, describe, expect, test } from 'vitest';
import { spawnCapstan } from '../fixtures/spawn-capstan.js';
import { ADMIN_KEY, ALLOW_ALL, type System, startSystem } from './start-system.js';

const HOSTILE = 'a\u001b[31mb\u001b]0;title\u0007c\u009b2Jd\u202ee\u200bf\u2066g\u0085h';
/** Characters that a terminal or a browser would act on. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
const ACTIVE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/;

describe('hostile tool output', () => {
  let system: System;
  let invocation_id = '';
  let run_id = '';
  beforeAll(async () => {
    system = await startSystem({ name: 'postgres' });
    await system.admin.policies.put('default', ALLOW_ALL);
    const tool = { tool_id: 'shell.run', inputs: { cmd: ['printf', '%s', HOSTILE] } };
    ({ invocation_id } = await system.admin.submit(tool, { wait_s: 30 }));
    const plan = { name: `plan ${HOSTILE}`, steps: [{ tool: tool.tool_id, args: tool.inputs }] };
    ({ run_id } = await system.admin.runs.submit({ plan }));
    await system.admin.runs.wait(run_id, { timeout_s: 60 });
  });
  const capstan = async (...args: string[]) => {
    const started = await spawnCapstan(args, { CAPSTAN_URL: system.url, CAPSTAN_API_KEY: ADMIN_KEY });
    await started.exited;
    return [...started.stdout, ...started.stderr].join('\n');
  };

  test.each([
    ['logs', () => ['logs', invocation_id]],
    ['invoke', () => ['invoke', 'shell.run', JSON.stringify({ cmd: ['printf', '%s', HOSTILE] })]],
    ['show', () => ['show', invocation_id]],
    ['show of a run', () => ['show', run_id]],
    ['runs', () => ['runs']],
    ['report', () => ['report', run_id]],
    ['report as a page', () => ['report', run_id, '--format', 'html']],
    ['an error', () => ['show', `inv_${HOSTILE}`]],
  ])('is printed as plain text by %s', async (_, args) => {
    const text = await capstan(...args());
    expect(text).toContain('31mb');
    expect(text).not.toMatch(ACTIVE);
  });

  test('is the same value in JSON, with its control characters escaped', async () => {
    const text = await capstan('show', invocation_id, '--json');
    expect(text).not.toMatch(ACTIVE);
    expect(JSON.parse(text).result.payload.stdout).toBe(HOSTILE);
  });

  test('is printed unchanged with --raw', async () => {
    expect(await capstan('logs', invocation_id, '--raw')).toBe(HOSTILE);
  });

  test('is plain text in the HTML and text reports of the gateway', async () => {
    for (const format of ['html', 'text']) {
      const response = await fetch(`${system.url}/v1/runs/${run_id}/report?format=${format}`, {
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      });
      const text = await response.text();
      expect(text).toContain('31mb');
      expect(text).not.toMatch(ACTIVE);
    }
  });
});
