import { describe, expect, it } from 'vitest';
import { run } from './testing/run-in-test.js';
import { withAnswers } from './testing/with-answers.js';

const LISTS: Record<string, object[]> = {
  '/v1/agents': [
    { agent_id: 'agt_aaaa1', name: 'calculator' },
    { agent_id: 'agt_aaaa2', name: 'twin' },
    { agent_id: 'agt_bbbb3', name: 'twin' },
  ],
  '/v1/schedules': [{ schedule_id: 'sch_aaaa1', name: 'nightly' }],
  '/v1/webhooks': [{ webhook_id: 'whk_aaaa1', url: 'https://hooks.example.com/' }],
  '/v1/keys': [{ key_id: 'key_aaaa1', actor: 'ci' }],
};
const { seen, env } = withAnswers((request) => {
  const [method, path = ''] = request.split(' ');
  const items = LISTS[new URL(path, 'http://gateway').pathname];
  return method === 'GET' && items ? { items, next_cursor: null } : {};
});
const capstan = (...args: string[]) => run(args, { env });

describe('a name in place of an id', () => {
  it.each([
    [['agents', 'delete', 'calculator'], 'DELETE /v1/agents/agt_aaaa1'],
    [['agents', 'delete', 'agt_bbbb'], 'DELETE /v1/agents/agt_bbbb3'],
    [['schedule', 'remove', 'nightly'], 'DELETE /v1/schedules/sch_aaaa1'],
    [['webhook', 'remove', 'https://hooks.example.com/'], 'DELETE /v1/webhooks/whk_aaaa1'],
    [['keys', 'delete', 'ci'], 'DELETE /v1/keys/key_aaaa1'],
    [['agents', 'delete', 'unknown'], 'DELETE /v1/agents/unknown'],
  ])('%j is sent as %s', async (args, request) => {
    await capstan(...args);
    expect(seen.at(-1)?.request).toBe(request);
  });

  it('is refused with all candidates when several things have it', async () => {
    const { code, stderr } = await capstan('agents', 'delete', 'twin');
    expect(code).toBe(2);
    expect(stderr).toContain('twin matches 2 agents: agt_aaaa2, agt_bbbb3');
    expect(seen.every(({ request }) => request.startsWith('GET') || !request.includes('twin'))).toBe(true);
  });
});
