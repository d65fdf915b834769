import { type CommandRoute, routeCommand } from '@capstan/catalog';
import { CommandHelp, CommandInvocation, Failure, type Principal, TypedCommand } from '@capstan/contracts';
import { readExtensions } from '@capstan/store/extension';
import { z } from 'zod';
import { commandsOf, toAnswer } from '../extension/extension-answer.js';
import type { GatewayContext } from '../gateway-context.js';
import { type Route, route } from '../http/route.js';
import { waitAsked } from '../invocation/preference.js';
import { submit } from '../invocation/submit.js';

export const commandRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/commands',
    summary: 'Run a slash command of an extension, or get its help; with Prefer: wait=N, wait for its end',
    roles: ['submit'],
    brings_work: true,
    query: z.strictObject({ wait: z.string().optional() }),
    // Admission validates the other fields, as for any submission.
    body: z.looseObject({ text: TypedCommand.shape.text }).meta({ override: TypedCommand }),
    answers: {
      200: { description: 'The ended invocation, or help', schema: z.union([CommandInvocation, CommandHelp]) },
      202: { description: 'It is committed', schema: CommandInvocation },
    },
    handle: async (gateway, { principal, body: { text, ...options }, query, request, reply }) => {
      const routed = await find(gateway, text);
      if (routed.kind === 'help') return routed;
      const wait_ms = waitAsked(request, query.wait);
      const { status, invocation } = await run(gateway, principal, routed, options, wait_ms);
      reply.code(status);
      if (status === 202) reply.header('location', `/v1/invocations/${invocation.invocation_id}`);
      const { command: name, action, extension_id } = routed;
      return { ...invocation, command: { name, action, extension_id } };
    },
  }),
];

type Runnable = Extract<CommandRoute, { kind: 'run' }>;

async function run(gateway: GatewayContext, by: Principal, command: Runnable, options: object, wait_ms: number) {
  const { tool_id, inputs, usage } = command;
  try {
    return await submit(gateway, by, { ...options, tool_id, inputs }, wait_ms);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'INVALID_INPUTS') throw error;
    // People who type a command expect its usage, not a schema.
    const { message: detail, context } = error;
    throw new Failure('INVALID_INPUTS', { detail, context, suggestion: `Usage: ${usage}`, cause: error });
  }
}

async function find(
  { store, catalog }: GatewayContext,
  text: string,
): Promise<Exclude<CommandRoute, { kind: 'unknown' | 'invalid' | 'disabled' }>> {
  const rows = await readExtensions(store.db);
  const extensions = rows.map((row) => ({
    extension_id: row.extension_id,
    name: toAnswer(row, []).name,
    enabled: row.enabled,
    commands: commandsOf(row),
  }));
  const routed = routeCommand(text, extensions, (tool_id) => {
    const descriptor = catalog.get(tool_id)?.descriptor;
    if (!descriptor) return undefined;
    const { input_schema, binding } = descriptor;
    return { input_schema, takes_typed: binding.kind === 'command' && binding.argv === null };
  });
  switch (routed.kind) {
    case 'unknown':
      throw new Failure('UNKNOWN_TOOL', {
        detail: routed.message,
        suggestion:
          routed.similar.length > 0
            ? `Did you mean ${routed.similar.join(' or ')}?`
            : 'Send /help for a list of commands.',
        context: { similar: routed.similar },
      });
    case 'disabled':
      throw new Failure('ILLEGAL_STATE', {
        detail: `${routed.command} belongs to the extension ${routed.extension_id}, which is switched off.`,
        suggestion: `Switch it on with \`capstan extension enable ${routed.extension_id}\`.`,
      });
    case 'invalid':
      throw new Failure('INVALID_REQUEST', {
        detail: `text: ${routed.message}`,
        suggestion: routed.usage ? `Usage: ${routed.usage}` : 'Send /help for a list of commands.',
      });
    default:
      return routed;
  }
}
