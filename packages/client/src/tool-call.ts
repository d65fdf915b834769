import type { ToolCallAnswer, ToolCallRequestInput } from '@capstan/contracts';
import type { Transport } from './transport.js';

export type ToolCalls = {
  /**
   * Submits the calls of a model's response. With `wait_s`, the result contains the messages to append to the conversation after the
   * model's own.
   */
  submit(
    request: ToolCallRequestInput,
    options?: { wait_s?: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<ToolCallAnswer>;
};

export const toolCalls = (transport: Transport): ToolCalls => ({
  submit: (request, { wait_s = 0, signal } = {}) =>
    transport.json('POST', '/v1/tool-calls', {
      body: request,
      headers: wait_s > 0 ? { prefer: `wait=${wait_s}` } : {},
      wait_s,
      signal,
    }),
});
