import { z } from 'zod';
import { Invocation, Submission } from './invocation.js';

const MAX_LINE = 100_000;

/** A slash command as typed, and options for running it. */
export const TypedCommand = z.strictObject({
  ...Submission.partial().omit({ tool_id: true, inputs: true }).shape,
  text: z.string().min(1).max(MAX_LINE).describe('The command as typed, such as /text wc "one two"; /help lists all'),
});
export type TypedCommand = Partial<Omit<z.input<typeof Submission>, 'tool_id' | 'inputs'>> & { text: string };

export const CommandHelp = z.object({ kind: z.literal('help'), command: z.string(), text: z.string() });
export type CommandHelp = z.infer<typeof CommandHelp>;

/** The invocation created by a command. */
export const CommandInvocation = Invocation.extend({
  command: z.object({ name: z.string(), action: z.string(), extension_id: z.string() }),
});
export type CommandInvocation = z.infer<typeof CommandInvocation>;
