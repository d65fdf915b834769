import { z } from 'zod';
import { startOwnProcess } from '../own-process.js';
import { Sample } from '../subject.js';

export const LoadOrder = z.object({
  port: z.number(),
  api_key: z.string(),
  in_flight: z.number(),
  count: z.number(),
  /** The called tool: by default a sum inside the worker, `true` as a process in its sandbox, or a sum in a user's own process. */
  calls: z.enum(['sum', 'process', 'own']).optional(),
  /** For so long, whatever the answers are: they are counted, not checked. `count` has no meaning then. */
  overload_ms: z.number().optional(),
});
export type LoadOrder = z.infer<typeof LoadOrder>;

/** The outcomes of the calls of very many clients. */
export const Overload = z.object({
  accepted: z.number(),
  /** 429 or 503, with and without a Retry-After. */
  refused: z.number(),
  refused_without_retry_after: z.number(),
  /** Any other answer, or none. */
  broken: z.number(),
  /** Counts accepted calls only. */
  p99_ms: z.number(),
});
export type Overload = z.infer<typeof Overload>;

export const LoadAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('answered'), sample: Sample }),
  z.object({ kind: z.literal('overloaded'), overload: Overload }),
  z.object({ kind: z.literal('wrong'), wrong: z.number(), answered: z.number(), first: z.string() }),
]);
export type LoadAnswer = z.infer<typeof LoadAnswer>;

export interface LoadGenerator {
  readonly pid: number;
  /** Sends `count` calls, `in_flight` at a time; throws if one is not answered as it must be. */
  send(order: LoadOrder): Promise<Sample>;
  overload(order: Omit<LoadOrder, 'count'> & { overload_ms: number }): Promise<Overload>;
}

export async function startLoadGenerator(): Promise<LoadGenerator> {
  const load = await startOwnProcess('./load/load.js');
  const order = async (sent: LoadOrder) => {
    const answer = await load.ask(sent, LoadAnswer);
    if (answer.kind === 'wrong')
      throw new Error(`${answer.wrong} of ${answer.answered} calls went wrong; the first: ${answer.first}`);
    return answer;
  };
  return {
    pid: load.pid,
    async send(sent) {
      const answer = await order(sent);
      if (answer.kind !== 'answered') throw new Error(`the load generator answered ${answer.kind}`);
      return answer.sample;
    },
    async overload(sent) {
      const answer = await order({ ...sent, count: 0 });
      if (answer.kind !== 'overloaded') throw new Error(`the load generator answered ${answer.kind}`);
      return answer.overload;
    },
  };
}
