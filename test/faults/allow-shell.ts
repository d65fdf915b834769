import type { Client } from '@capstan/client';

/** Allows shell.run, which the built-in policy does not. A different reason makes a new version of the policy. */
export async function allowShell(client: Client, reason = 'it is a test'): Promise<void> {
  await client.policies.put('default', {
    version: '1.0',
    boundary: 'deny_by_default',
    rules: [{ id: 'tests', effect: 'allow', match: { tool: ['cap:*', 'shell.run'] }, reason }],
    risk: { HIGH: { effect: 'allow' } },
    limits: [{ shell: true }],
  });
}
