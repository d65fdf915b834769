import { join } from 'node:path';
import { createClient } from '@capstan/client';
import { holdIdOf } from '@capstan/contracts';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../fixtures/create-test-database.js';
import { spawnCapstan } from '../../fixtures/spawn-capstan.js';
import { startLineProcess } from '../../fixtures/start-line-process.js';
import { tempDir } from '../../fixtures/temp-dir.js';
import { type Request, startModel } from './start-model.js';

const ADMIN = 'a-key-of-the-tests';
let url = '';
let admin: ReturnType<typeof createClient>;
let key = '';
let model: { url: string; requests: Request[] };

beforeAll(async () => {
  const { url: DATABASE_URL } = await createTestDatabase();
  const capstan = await spawnCapstan(['up'], { DATABASE_URL, CAPSTAN_PORT: '0', CAPSTAN_API_KEY: ADMIN });
  [, url = ''] = await capstan.waitForLine(/is up at (\S+)/);
  admin = createClient({ url, key: ADMIN });
  ({ key } = await admin.keys.create({ tenant: 'default', actor: 'agent', roles: ['submit'] }));
  model = await startModel();
});

const putPolicy = (effect: 'allow' | 'hold' | 'forbid') =>
  admin.policies.put('default', { rules: [{ id: 'sums', effect, match: { tool: 'cap:test_math:*' } }] });

/** One turn of the agent, in a separate process. */
const startTurn = async (framework: string, held: 'wait' | 'interrupt', state: string) =>
  startLineProcess({
    command: [process.execPath, join(import.meta.dirname, 'agents/main.js'), framework],
    env: {
      ...{ PATH: process.env.PATH ?? '', CAPSTAN_URL: url, CAPSTAN_API_KEY: key },
      ...{ MODEL_URL: model.url, HELD: held, STATE: state, OPENAI_AGENTS_DISABLE_TRACING: '1' },
    },
    cwd: import.meta.dirname,
  });
const turn = async (...args: Parameters<typeof startTurn>): Promise<string> => {
  const running = await startTurn(...args);
  const { code } = await running.exited;
  if (code !== 0) expect.fail(running.stderr.join('\n'));
  return running.stdout.at(-1) ?? '';
};
const newState = async () => join(await tempDir(), 'state.json');

const pending = async () => {
  const { items } = await admin.holds.list({ status: 'pending' }).page();
  return items;
};

// A hold that an earlier test left behind must not be mistaken for that of the next one.
beforeEach(async () => {
  for (const { hold_id } of await pending()) await admin.holds.reject(hold_id, 'left over');
});

describe.each(['ai-sdk', 'openai-agents', 'anthropic', 'langchain', 'mastra'])('%s', (framework) => {
  test('the model gets the tools with their schemas, and the result of the tool it calls', async () => {
    await putPolicy('allow');
    model.requests.length = 0;
    expect(await turn(framework, 'wait', await newState())).toMatch(/^text "The tool says .*5/);
    const offered = JSON.stringify(model.requests[0]?.tools);
    expect(offered).toContain('cap_test_math_add');
    expect(offered).toMatch(/"required":\["a","b"\]/);
    const { items } = await admin.list({ session_id: 'ses_frameworks', limit: 1 }).page();
    expect(items[0]).toMatchObject({ tool_id: 'cap:test_math:add', status: 'succeeded' });
    expect(items[0]?.idempotency_key).toMatch(/^(call_|toolu_)/);
  });

  test('a call that policy denies is returned to the model as an error', async () => {
    await putPolicy('forbid');
    expect(await turn(framework, 'interrupt', await newState())).toMatch(/^text "The tool says .*forbid/i);
  });

  test('a held call is waited for, and goes on when it is released', async () => {
    await putPolicy('hold');
    const running = await startTurn(framework, 'wait', await newState());
    await expect.poll(pending, { timeout: 30_000 }).toHaveLength(1);
    const [hold] = await pending();
    await admin.holds.release(hold?.hold_id ?? '', { comment: 'checked' });
    const { code } = await running.exited;
    expect(running.stdout.at(-1), running.stderr.join('\n')).toMatch(/^text "The tool says .*5/);
    expect(code).toBe(0);
  });

  test.each([
    ['released', /^text "The tool says .*5/],
    ['rejected', /^text "The tool says .*reject/i],
  ])('a held call interrupts the run, which goes on in a new process once it is %s', async (decision, says) => {
    await putPolicy('hold');
    const state = await newState();
    expect(await turn(framework, 'interrupt', state)).toMatch(/^interrupted /);
    const holds = await pending();
    expect(holds).toHaveLength(1);
    const hold_id = holdIdOf(holds[0]?.invocation_id ?? '');
    if (decision === 'released') await admin.holds.release(hold_id, { comment: 'checked' });
    else await admin.holds.reject(hold_id, 'not today');
    expect(await turn(framework, 'interrupt', state)).toMatch(says);
    const { items } = await admin.list({ session_id: 'ses_frameworks', limit: 1 }).page();
    expect(items[0]?.invocation_id).toBe(holds[0]?.invocation_id);
  });
});
