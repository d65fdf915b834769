import { describe, expect, test } from 'vitest';
import { NewGrant, whyMayNotDecide, whyMayNotRelease } from './hold.js';
import type { Role } from './key.js';

const who = (actor: string, ...roles: Role[]) => ({ actor, roles });

describe('who may decide on a hold', () => {
  test('is whoever operates, where policy names nobody', () => {
    expect(whyMayNotDecide({}, who('ann', 'operate'))).toBeNull();
    expect(whyMayNotDecide({}, who('ann', 'admin'))).toBeNull();
    expect(whyMayNotDecide({}, who('ann', 'submit', 'audit'))).toContain('operate');
  });

  test('has every role that policy names', () => {
    expect(whyMayNotDecide({ roles: ['operate', 'audit'] }, who('ann', 'operate'))).toContain('audit');
    expect(whyMayNotDecide({ roles: ['operate', 'audit'] }, who('ann', 'operate', 'audit'))).toBeNull();
    expect(whyMayNotDecide({ roles: ['admin'] }, who('ann', 'operate'))).toContain('admin');
  });

  test('is one of those whom policy names, with any role', () => {
    expect(whyMayNotDecide({ actors: ['carol'] }, who('carol', 'audit'))).toBeNull();
    expect(whyMayNotDecide({ actors: ['carol'] }, who('ann', 'admin'))).toContain('carol');
    expect(whyMayNotDecide({ actors: ['carol'], roles: ['operate'] }, who('carol', 'audit'))).toContain('operate');
  });

  test('does not release a call of their own, unless policy says so', () => {
    expect(whyMayNotRelease({}, 'ann', who('ann', 'admin'))).toContain('submitted');
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
  ])('%j is valid: %s', (grant, valid) => {
    expect(NewGrant.safeParse(grant).success).toBe(valid);
  });
});
