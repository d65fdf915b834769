import { randomInt } from 'node:crypto';
import type { Client } from '@capstan/client';
import { eventually } from '../fixtures/eventually.js';
import { findProcess } from '../fixtures/find-process.js';

export interface Sleeper {
  readonly invocation_id: string;
  /** The process of the command, not of its worker. */
  readonly pid: number;
}

/** Starts a command that is not idempotent and would run longer than any test, and waits until it runs. */
export async function startSleeper(client: Client): Promise<Sleeper> {
  const mark = `600.${randomInt(1_000_000_000)}`;
  const { invocation_id } = await client.submit({
    tool_id: 'shell.run',
    inputs: { cmd: ['sh', '-c', `echo up; exec sleep ${mark}`] },
  });
  for await (const { event } of client.events(invocation_id))
    if (event === 'log') return { invocation_id, pid: await pidOfSleep(mark) };
  throw new Error(`${invocation_id} ended without having said its process id`);
}

/** The shell prints that it is up, and becomes the sleep a moment later. */
async function pidOfSleep(mark: string): Promise<number> {
  let pid: number | undefined;
  await eventually(() => {
    pid = findProcess('sleep', mark);
    return pid !== undefined;
  });
  return pid ?? 0;
}
