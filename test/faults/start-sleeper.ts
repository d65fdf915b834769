import type { Client } from '@capstan/client';

export interface Sleeper {
  readonly invocation_id: string;
  /** Of the command itself, not of its worker. */
  readonly pid: number;
}

/** A command that runs in some worker at this moment, and would for longer than any test. It is not idempotent. */
export async function startSleeper(client: Client): Promise<Sleeper> {
  const { invocation_id } = await client.submit({
    tool_id: 'shell.run',
    inputs: { cmd: ['sh', '-c', 'echo $$; exec sleep 600'] },
  });
  for await (const { event, data } of client.events(invocation_id))
    if (event === 'log') return { invocation_id, pid: Number(data.text) };
  throw new Error(`${invocation_id} ended without having said its process id`);
}
