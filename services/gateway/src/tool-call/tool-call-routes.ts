import { isTerminal, ToolCallAnswer, ToolCallRequest } from '@capstan/contracts';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { waitAsked } from '../invocation/preference.js';
import { answerToolCalls } from './answer-tool-calls.js';

export const toolCallRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/tool-calls',
    summary: "Submit the tool calls in a model's response; with Prefer: wait=N, return the messages to append",
    roles: ['submit'],
    brings_work: true,
    query: z.strictObject({ wait: z.string().optional() }),
    body: ToolCallRequest,
    idempotency_header: true,
    body_limit: 'bulk',
    answers: {
      200: { description: 'All calls have ended, or wait for a person; the messages say how', schema: ToolCallAnswer },
      202: { description: 'The calls are committed, and some have not ended', schema: ToolCallAnswer },
    },
    handle: async (gateway, { principal, query, body, request, reply }) => {
      const wait_ms = waitAsked(request, query.wait);
      const answer = await answerToolCalls(gateway, principal, body, wait_ms);
      const settled = answer.invocations.every(({ status }) => isTerminal(status) || status === 'held');
      return reply.code(wait_ms > 0 && settled ? 200 : 202).send(answer);
    },
  }),
];
