import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { type System, startSystem } from './start-system.js';

const ADD = { tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } };
const SECRET = `ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}`;

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
});

test('a secret in the comment that resolves an ambiguous call is redacted before it is stored', async () => {
  const { invocation_id } = await system.admin.submit(ADD, { wait_s: 30 });
  // The state that a worker leaves behind if it is lost during the call.
  await sql`UPDATE results SET status = 'ambiguous', success = NULL, output_hash = NULL WHERE invocation_id = ${invocation_id}`.execute(
    system.store.db,
  );
  const comment = `it failed with ${SECRET}`;
  const resolved = await system.admin.resolve(invocation_id, { outcome: 'failed', comment });
  expect(resolved.result?.error).toMatch(/^it failed with /);
  const { rows } = await sql`SELECT detail FROM audit WHERE subject = ${invocation_id}`.execute(system.store.db);
  expect(JSON.stringify([resolved, rows])).not.toContain(SECRET);
});
