import type { Client } from '@capstan/client';
import type { InvocationDetail, InvocationStatus } from '@capstan/contracts';
import { expect } from 'vitest';

/** The invocation as soon as it has this status; fails when that takes longer than any fault here may. */
export async function untilStatus(
  client: Client,
  invocation_id: string,
  status: InvocationStatus,
): Promise<InvocationDetail> {
  const reached = await client.wait(invocation_id, { timeout_s: 15, until: (now) => now === status });
  expect(reached.status).toBe(status);
  return reached;
}
