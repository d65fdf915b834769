import { describe, expect, test } from 'vitest';
import { NewGrant } from './grant.js';
import { whyMayNotDecide, whyMayNotRelease } from './hold.js';
import type { Role } from './key.js';

const who = (actor: string, ...roles: Role[]) => ({ actor, roles });

describe('a person who may decide a hold', () => {
  test('has the role operate if the policy names nobody', () => {
    expect(whyMayNotDecide({}, who('ann', 'operate'))).toBeNull();
    expect(whyMayNotDecide({}, who('ann', 'admin'))).toBeNull();
    expect(whyMayNotDecide({}, who('ann', 'submit', 'audit'))).toContain('operate');
  });

  test('has every role that the policy names', () => {
    expect(whyMayNotDecide({ roles: ['operate', 'audit'] }, who('ann', 'operate'))).toContain('audit');
    expect(whyMayNotDecide({ roles: ['operate', 'audit'] }, who('ann', 'operate', 'audit'))).toBeNull();
    expect(whyMayNotDecide({ roles: ['admin'] }, who('ann', 'operate'))).toContain('admin');
  });

  test('is one of the actors that the policy names, with any role', () => {
    expect(whyMayNotDecide({ actors: ['carol'] }, who('carol', 'audit'))).toBeNull();
    expect(whyMayNotDecide({ actors: ['carol'] }, who('ann', 'admin'))).toContain('carol');
    expect(whyMayNotDecide({ actors: ['carol'], roles: ['operate'] }, who('carol', 'audit'))).toContain('operate');
  });

  test('may not release their own call unless the policy allows it', () => {
    expect(whyMayNotRelease({}, 'ann', who('ann', 'admin'))).toContain('submitter');
    expect(whyMayNotRelease({ allow_self: true }, 'ann', who('ann', 'operate'))).toBeNull();
    expect(whyMayNotRelease({}, 'bob', who('ann', 'operate'))).toBeNull();
  });
});

describe('a grant', () => {
  const plan_hash = `sha256:${'0'.repeat(64)}`;
  test.each([
    [{ tool_id: 't' }, true],
    [{ kind: 'plan', plan_hash }, true],
    [{ kind: 'plan', plan_hash, tool_id: 't' }, true],
    [{}, false],
    [{ kind: 'plan' }, false],
    [{ tool_id: 't', plan_hash }, false],
    [{ tool_id: 't', count: 0 }, false],
    [{ tool_id: 't', cuont: 5 }, false],
  ])('%j has the validity %s', (grant, valid) => {
    expect(NewGrant.safeParse(grant).success).toBe(valid);
  });
});
