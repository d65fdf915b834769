import type { Client } from '@capstan/client';
import type { InvocationDetail, InvocationStatus } from '@capstan/contracts';
import { expect } from 'vitest';

/** Waits until the invocation has this status. Fails if that takes longer than any fault here may take. */
export async function untilStatus(
  client: Client,
  invocation_id: string,
  status: InvocationStatus,
): Promise<InvocationDetail> {
  const reached = await client.wait(invocation_id, { timeout_s: 60, until: (now) => now === status });
  expect(reached.status).toBe(status);
  return reached;
}
