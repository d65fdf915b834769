import { randomInt } from 'node:crypto';
import type { Client } from '@capstan/client';
import { eventually } from '../fixtures/eventually.js';
import { findProcess } from '../fixtures/find-process.js';

export interface Sleeper {
  readonly invocation_id: string;
  /** Of the command itself, not of its worker. */
  readonly pid: number;
}

/** A command that runs in some worker at this moment, and would for longer than any test. It is not idempotent. */
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

/** The shell has said that it is up, and becomes the sleep a moment later. */
async function pidOfSleep(mark: string): Promise<number> {
  let pid: number | undefined;
  await eventually(() => {
    pid = findProcess('sleep', mark);
    return pid !== undefined;
  });
  return pid ?? 0;
}
