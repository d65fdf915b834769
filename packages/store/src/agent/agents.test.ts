import { NewAgent, type Principal } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { openTestStore } from '../testing/open-test-store.js';
import { changeAgent, createAgent, deleteAgent, getAgent, listAgents } from './agents.js';

const store = await openTestStore();
const ann: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['submit'] };
const eve: Principal = { ...ann, tenant: 'globex', actor: 'eve' };
const agent = (over: object = {}) => NewAgent.parse({ name: 'Helper', capabilities: ['test_math'], ...over });
const fine = () => {};

describe('an agent', () => {
  test('is stored as sent, including text that Postgres’ own json functions refuse', async () => {
    const made = await createAgent(store, ann, agent({ system_prompt: 'a\u0000b "quoted" 🌍' }));
    expect(made).toMatchObject({
      agent_id: expect.stringMatching(/^agt_/),
      version: 1,
      system_prompt: 'a\u0000b "quoted" 🌍',
    });
    expect(await getAgent(store.db, 'acme', made.agent_id)).toEqual(made);
  });

  test('is changed field by field, each change a version; a refused change changes nothing', async () => {
    const { agent_id } = await createAgent(store, ann, agent());
    const changed = await changeAgent(store, ann, agent_id, { description: 'new' }, fine);
    expect(changed).toMatchObject({ version: 2, description: 'new', name: 'Helper', capabilities: ['test_math'] });
    const refuse = () => {
      throw new Error('no');
    };
    await expect(changeAgent(store, ann, agent_id, { name: 'x' }, refuse)).rejects.toThrow('no');
    expect(await getAgent(store.db, 'acme', agent_id)).toEqual(changed);
    await Promise.all(['a', 'b', 'c'].map((name) => changeAgent(store, ann, agent_id, { name }, fine)));
    expect(await getAgent(store.db, 'acme', agent_id)).toMatchObject({ version: 5 });
  });

  test('belongs to its tenant only', async () => {
    const { agent_id } = await createAgent(store, ann, agent());
    expect(await getAgent(store.db, 'globex', agent_id)).toBeUndefined();
    expect(await changeAgent(store, eve, agent_id, { name: 'x' }, fine)).toBeUndefined();
    expect(await deleteAgent(store, eve, agent_id)).toBe(false);
    expect((await listAgents(store.db, 'globex', { limit: 10 })).items).toEqual([]);
    expect(await deleteAgent(store, ann, agent_id)).toBe(true);
    expect(await getAgent(store.db, 'acme', agent_id)).toBeUndefined();
  });

  test('is listed newest first, page by page, and every change is audited', async () => {
    const made = [];
    for (const name of ['1', '2', '3']) made.push(await createAgent(store, eve, agent({ name })));
    const first = await listAgents(store.db, 'globex', { limit: 2 });
    expect(first.items.map(({ name }) => name)).toEqual(['3', '2']);
    const rest = await listAgents(store.db, 'globex', { limit: 2, cursor: first.next_cursor ?? '' });
    expect(rest).toMatchObject({ items: [{ name: '1' }], next_cursor: null });
    const audit = await store.db
      .selectFrom('audit')
      .select('event')
      .where('subject', '=', made[0]?.agent_id ?? '')
      .execute();
    expect(audit).toEqual([{ event: 'agent.create' }]);
  });
});
