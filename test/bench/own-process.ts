import { fileURLToPath } from 'node:url';
import { execaNode } from 'execa';
import type { z } from 'zod';
import { atEnd } from '../fixtures/at-end.js';

/** A part of the bench that must not share its event loop with another: it takes one order at a time and answers it. */
export interface OwnProcess {
  readonly pid: number;
  ask<Answer>(order: object, answer: z.ZodType<Answer>): Promise<Answer>;
  /** A message that comes later than the answer to an order. Listen before what brings it about. */
  next<Message>(message: z.ZodType<Message>): Promise<Message>;
}

/** Starts `module` (beside this file) as a separate process. Its errors go to the terminal and fail pending requests. */
export async function startOwnProcess(module: string, args: readonly string[] = []): Promise<OwnProcess> {
  const child = execaNode(fileURLToPath(new URL(module, import.meta.url)), args, {
    ipc: true,
    nodePath: process.execPath,
    nodeOptions: [],
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'inherit',
    buffer: false,
    reject: false,
  });
  atEnd(async () => {
    child.kill('SIGKILL');
    await child;
  });
  if (child.pid === undefined) throw new Error(`${module} did not start`);
  return {
    pid: child.pid,
    async ask(order, answer) {
      const [message] = await Promise.all([child.getOneMessage(), child.sendMessage(order)]);
      return answer.parse(message);
    },
    async next(expected) {
      return expected.parse(await child.getOneMessage());
    },
  };
}
