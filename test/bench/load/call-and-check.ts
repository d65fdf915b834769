import { z } from 'zod';
import type { HttpCaller } from './http-caller.js';

const Sum = z.object({
  status: z.literal('succeeded'),
  result: z.object({ payload: z.object({ result: z.number() }) }),
});

const Ran = z.object({
  status: z.literal('succeeded'),
  result: z.object({ exit_code: z.literal(0), facts: z.object({ sandbox: z.string().startsWith('bubblewrap') }) }),
});

export const TOOL = 'cap:test_math:add';

/** The target and headers of a call; the caller appends the length and the body. */
export function headOfCalls({ port, api_key }: { port: number; api_key: string }): string {
  return [
    'POST /v1/invocations HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${api_key}`,
    'prefer: wait=20',
    'content-type: application/json',
    'content-length: ',
  ].join('\r\n');
}

export const bodyOfSum = (a: number, tool = TOOL): string => `{"tool_id":"${tool}","inputs":{"a":${a},"b":3}}`;

/** Asks for a sum and checks the answer: a fast wrong answer, or one that is not terminal, must not count. */
export async function callAndCheck(caller: HttpCaller, a: number, tool = TOOL): Promise<void> {
  const { status, body } = await caller.post(bodyOfSum(a, tool));
  if (status !== 200) throw new Error(`answered ${status}: ${body.slice(0, 500)}`);
  const answer = Sum.safeParse(JSON.parse(body));
  if (!answer.success) throw new Error(`not a terminal success: ${body.slice(0, 500)}`);
  if (answer.data.result.payload.result !== a + 3) throw new Error(`${a} + 3 came out wrong: ${body.slice(0, 500)}`);
}

/** The same sum, in a process of the user's own. */
export const callOwnAndCheck = (caller: HttpCaller, a: number): Promise<void> =>
  callAndCheck(caller, a, 'app:bench:add');

/** Asks for a process that does nothing, and checks that it ran, in the sandbox that it is compared with. */
export async function runAndCheck(caller: HttpCaller): Promise<void> {
  const { status, body } = await caller.post('{"tool_id":"shell.run","inputs":{"cmd":["true"]}}');
  if (status !== 200) throw new Error(`answered ${status}: ${body.slice(0, 500)}`);
  if (!Ran.safeParse(JSON.parse(body)).success) throw new Error(`it did not run as it must: ${body.slice(0, 500)}`);
}
