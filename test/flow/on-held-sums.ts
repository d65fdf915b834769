import type { Client } from '@capstan/client';
import { holdIdOf, type Invocation, type JsonObject, type Role } from '@capstan/contracts';
import { beforeAll, describe, expect } from 'vitest';
import { queues } from '../fixtures/queues.js';
import { type System, startSystem } from './start-system.js';

export const ADD = 'cap:test_math:add';
export const WEATHER = 'cap:test_weather:get_weather';
export const HOLD_ONE = {
  id: 'one-person',
  effect: 'hold',
  match: { tool: ADD },
  if: 'inputs.a < 100',
  reason: 'sums need a person',
} as const;
/** `a` decides: below 100 one person has to agree, below 1000 two (from 500 on under another rule), and more is forbidden. */
export const HOLD_POLICY = {
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [
    { id: 'all', effect: 'allow', match: { tool: '*' } },
    HOLD_ONE,
    {
      id: 'two-people',
      effect: 'hold',
      match: { tool: ADD },
      if: 'inputs.a >= 100 && inputs.a < 1000',
      approvals: { required: 2 },
      reason: 'large sums need two people',
    },
    { id: 'very-large', effect: 'hold', match: { tool: ADD }, if: 'inputs.a >= 500', approvals: { required: 2 } },
    { id: 'weather', effect: 'hold', match: { tool: WEATHER }, approvals: { actors: ['carol'] } },
    { id: 'never', effect: 'forbid', match: { tool: ADD }, if: 'inputs.a >= 1000', reason: 'too large' },
  ],
} as const;

export interface Holds {
  readonly system: System;
  /** May submit. */
  readonly asker: Client;
  /** May submit and decide. */
  readonly ann: Client;
  /** May decide. */
  readonly bob: Client;
}

/** Runs the same tests on each queue, on a system whose sums are held, with people who submit and people who decide. */
export function onHeldSums(tests: (holds: Holds) => void): void {
  describe.each(queues)('a hold on the $name queue', (queue) => {
    const holds = {} as { -readonly [Name in keyof Holds]: Holds[Name] };
    beforeAll(async () => {
      const system = await startSystem(queue, { workers: 2 });
      await system.admin.policies.put('default', HOLD_POLICY);
      const [asker, ann, bob] = await Promise.all([
        newActor(system, 'asker', ['submit']),
        newActor(system, 'ann', ['submit', 'operate']),
        newActor(system, 'bob', ['operate']),
      ]);
      Object.assign(holds, { system, asker, ann, bob });
    });
    tests(holds);
  });
}

export const newActor = async ({ admin, clientFor }: System, actor: string, roles: Role[]): Promise<Client> =>
  clientFor((await admin.keys.create({ tenant: 'default', actor, roles })).key);

export async function submitHeld(
  { asker }: Holds,
  inputs: JsonObject,
  more = {},
): Promise<{ invocation: Invocation; hold_id: string }> {
  const invocation = await asker.submit({ tool_id: ADD, inputs, ...more });
  expect(invocation.status).toBe('held');
  return { invocation, hold_id: holdIdOf(invocation.invocation_id) };
}
