import type { z } from 'zod';

/** The address of a gateway, and a key for it. */
export interface Endpoint {
  readonly port: number;
  readonly api_key: string;
}

/** One request of the bench itself (bulk, counts). The load goes another way: `http-caller.ts`. */
export async function request<Answer>(
  { port, api_key }: Endpoint,
  { path, body, status, answer }: { path: string; body?: string; status: number; answer: z.ZodType<Answer> },
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: {
      authorization: `Bearer ${api_key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { method: 'POST', body }),
  });
  const text = await response.text();
  if (response.status !== status) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 500)}`);
  return answer.parse(JSON.parse(text));
}
