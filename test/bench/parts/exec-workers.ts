import { spawnSync } from 'node:child_process';
import { z } from 'zod';
import type { CapstanUnderTest } from '../capstan-under-test.js';
import type { Endpoint } from '../load/endpoint.js';

/** For `bare-bubblewrap.ts`, which runs as many without Capstan. */
export const BareOrder = z.object({ in_flight: z.number(), count: z.number() });
export type BareOrder = z.infer<typeof BareOrder>;

/** The number of concurrent processes of a worker. */
export const IN_FLIGHT = 8;

export const hasBubblewrap = (): boolean =>
  spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true']).status === 0;

/** Starts a separate worker for processes while `work` is running. */
export async function withExecWorkers<T>(capstans: readonly CapstanUnderTest[], work: () => Promise<T>): Promise<T> {
  const stops = await Promise.all(
    capstans.map(async (capstan) => {
      await allowProcesses(capstan.endpoint);
      return capstan.startExecWorker(IN_FLIGHT);
    }),
  );
  try {
    return await work();
  } finally {
    for (const stop of stops) await stop();
  }
}

async function allowProcesses({ port, api_key }: Endpoint): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/policies/default`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      boundary: 'deny_by_default',
      rules: [{ id: 'bench', effect: 'allow', match: { tool: ['cap:*', 'shell.run'] } }],
      risk: { HIGH: { effect: 'allow' } },
    }),
  });
  if (!response.ok) throw new Error(`the policy was refused: ${await response.text()}`);
}
