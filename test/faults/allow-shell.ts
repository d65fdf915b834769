import type { Client } from '@capstan/client';

/** The built-in policy allows nothing that could do harm. Another reason makes another version. */
export async function allowShell(client: Client, reason = 'it is a test'): Promise<void> {
  await client.policies.put('default', {
    version: '1.0',
    boundary: 'deny_by_default',
    rules: [{ id: 'tests', effect: 'allow', match: { tool: ['cap:*', 'shell.run'] }, reason }],
    risk: { HIGH: { effect: 'allow' } },
    limits: [{ shell: true }],
  });
}
