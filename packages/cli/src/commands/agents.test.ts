import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent, Capability } from '@capstan/contracts';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../testing/run-in-test.js';
import { withAnswers } from '../testing/with-answers.js';

const AGENT: Agent = {
  agent_id: 'agt_abcdefghijklmnopqrst1',
  id: 'agt_abcdefghijklmnopqrst1',
  name: 'Helper',
  description: '',
  system_prompt: 'Be kind.\nBe brief.',
  capabilities: ['current_time', 'test_math'],
  tools: ['atip:gh:*'],
  deny_tools: [],
  config: { current_time: { timezone: 'Asia/Tokyo' } },
  status: 'active',
  version: 2,
  created_at: '2026-01-01T12:00:00.000Z',
  updated_at: '2026-01-01T12:00:00.000Z',
};
const CAPABILITY: Capability = {
  id: 'noop',
  name: 'No-Op',
  description: 'Adds nothing.',
  version: '1.0.0',
  status: 'available',
  icon: null,
  category: null,
  system_prompt_addition: null,
  tools: [],
  depends_on: [],
  config_schema: null,
};

let answer: unknown = AGENT;
const { seen, env } = withAnswers((request) => (request.startsWith('DELETE') ? undefined : answer));
const cwd = mkdtempSync(join(tmpdir(), 'capstan-agents-'));
afterAll(() => rmSync(cwd, { recursive: true }));
beforeEach(() => {
  answer = AGENT;
});
const capstan = (...args: string[]) => run(['agents', ...args], { env, cwd });

describe('agents', () => {
  it('are listed, and one is shown with its prompt', async () => {
    answer = { items: [AGENT], next_cursor: null };
    expect((await capstan()).stdout).toMatch(/agt_abcdefghijklmnopqrst1\s+Helper\s+current_time,test_math/);
    answer = AGENT;
    const { stdout } = await capstan('show', 'agt_abcdefghijklmnopqrst1');
    expect(stdout).toContain('Helper  agt_abcdefghijklmnopqrst1');
    expect(stdout).toContain('active, version 2');
    expect(stdout).toContain('  Be kind.\n  Be brief.');
  });

  it('are created from options, in the order given', async () => {
    const { stdout } = await capstan(
      'create',
      'Helper',
      '-c',
      'test_math,noop',
      '-c',
      'research@1',
      '--prompt',
      'Hi',
      '--config',
      '{"noop":{}}',
    );
    expect(stdout).toBe('✓ agt_abcdefghijklmnopqrst1  Helper\n');
    expect(seen).toEqual([
      {
        request: 'POST /v1/agents',
        body: {
          name: 'Helper',
          capabilities: ['test_math', 'noop', 'research@1'],
          system_prompt: 'Hi',
          config: { noop: {} },
        },
      },
    ]);
  });

  it('are created from a file, and options go before it', async () => {
    writeFileSync(join(cwd, 'agent.json'), JSON.stringify({ name: 'File', tools: ['shell.run'] }));
    await capstan('create', '-f', 'agent.json', '-t', 'fs.read');
    expect(seen[0]?.body).toEqual({ name: 'File', tools: ['fs.read'] });
  });

  it('need a name, and JSON that is JSON', async () => {
    expect(await capstan('create')).toMatchObject({ code: 2, stderr: expect.stringContaining('needs a name') });
    expect(await capstan('create', 'x', '--config', '[1]')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--config'),
    });
    expect(seen).toEqual([]);
  });

  it('are changed and deleted', async () => {
    expect(
      (await capstan('change', 'agt_abcdefghijklmnopqrst1', '--name', 'New', '--deny-tool', '*:delete')).stdout,
    ).toBe('✓ agt_abcdefghijklmnopqrst1 is now version 2\n');
    expect(seen[0]).toEqual({
      request: 'PATCH /v1/agents/agt_abcdefghijklmnopqrst1',
      body: { name: 'New', deny_tools: ['*:delete'] },
    });
    expect((await capstan('delete', 'agt_abcdefghijklmnopqrst1', 'agt_abcdefghijklmnopqrst2')).stdout).toBe(
      '✓ agt_abcdefghijklmnopqrst1 deleted\n✓ agt_abcdefghijklmnopqrst2 deleted\n',
    );
  });

  it('have a runtime for each provider, and no other', async () => {
    answer = { system_prompt: 'x', tools: [] };
    expect(JSON.parse((await capstan('runtime', 'agt_abcdefghijklmnopqrst1', '-p', 'gemini')).stdout)).toEqual(answer);
    expect(seen[0]?.request).toBe('GET /v1/agents/agt_abcdefghijklmnopqrst1/runtime?provider=gemini');
    expect(await capstan('runtime', 'agt_abcdefghijklmnopqrst1', '-p', 'acme')).toMatchObject({ code: 2 });
  });

  it('can be given capabilities, which are listed', async () => {
    answer = { items: [CAPABILITY], next_cursor: null };
    expect((await capstan('capabilities')).stdout).toMatch(/noop\s+1\.0\.0\s+available\s+0\s+Adds nothing\./);
  });
});
