import type { AuditEntry } from '@capstan/contracts';
import { expect, test } from 'vitest';
import { auditDetail } from './audit-detail.js';

const HASH = `sha256:${'0'.repeat(64)}`;

const entry = (event: string, detail: AuditEntry['detail'], executions?: AuditEntry['executions']): AuditEntry => ({
  ...{ seq: '1', at: '2026-01-01T12:00:00.000Z', tenant: 'default', actor: 'ann', subject: 'inv_1', chain_hash: null },
  ...{ event, detail, ...(executions === undefined ? {} : { executions }) },
});

const execution = {
  ...{ invocation_id: 'inv_1', tool_id: 'shell.run', runner: 'exec' as const, action: 'run', command: 'git status' },
  ...{ session_id: null, status: 'failed' as const, started_at: null, duration_ms: 180, exit_code: 128 },
  error: 'git exited with 128',
};

test.each<[string, AuditEntry, string]>([
  [
    'a call that ended',
    entry('invocation.end', { calls: {} }, [execution]),
    'shell.run failed in 180ms, exit code 128: git exited with 128',
  ],
  [
    'several calls that ended',
    entry('invocation.end', { calls: {} }, [execution, execution, { ...execution, status: 'succeeded' }]),
    '2 failed, 1 succeeded',
  ],
  [
    'submitted calls',
    entry('invocation.submit', { calls: { 'fs.read': { inv_1: HASH, inv_2: HASH }, 'fs.write': { inv_3: HASH } } }),
    '2 calls of fs.read, fs.write',
  ],
  [
    'a denial',
    entry('invocation.deny', { run_id: null, tool_id: 'fs.read', input_hash: HASH, reason: 'no rule allows fs.read' }),
    'fs.read, no rule allows fs.read',
  ],
  ['a new policy', entry('policy.put', { version: 4, policy_hash: HASH }), 'version 4'],
  ['a new key', entry('key.create', { tenant: 'acme', roles: ['submit', 'audit'] }), 'tenant acme, roles submit audit'],
])('the detail of %s is in words, without hashes', (_, event, words) => {
  expect(auditDetail(event)).toBe(words);
});
