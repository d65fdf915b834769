import { JsonObject, Risk, SideEffect } from '@capstan/contracts';
import { z } from 'zod';
import { EffectsDeclaration } from '../effects/effects-declaration.js';

/** A variable of the worker, or one that is filled from a secret of the tenant. */
const ENV = /^[A-Za-z_][A-Za-z0-9_]*(=secret:\/\/[\w./-]+)?$/;
const Text = z.string().max(10_000);
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const Example = z.union([z.string(), z.looseObject({ command: z.string() })]);
const Values = z.record(z.string(), z.string());

/** AgentOS' earlier format for the parameters of a command. */
const NamedArgument = z.looseObject({
  name: z.string().regex(NAME),
  description: Text.optional(),
  required: z.boolean().optional(),
  default: z.unknown().optional(),
});

export const Action = z.strictObject({
  id: z.string().regex(NAME, 'letters, digits, dot, dash and underscore, up to 64'),
  name: z.string().optional(),
  description: Text.default(''),
  runner: z.string().optional(),
  argv: z.array(z.string()).optional(),
  stdin: z.string().optional(),
  request: z
    .strictObject({
      url: z.string().optional(),
      headers: Values.optional(),
      query: Values.optional(),
      body: z.unknown().optional(),
    })
    .optional(),
  input_schema: JsonObject.optional(),
  output_schema: JsonObject.optional(),
  output: z.enum(['text', 'json', 'lines']).default('text'),
  risk: Risk.optional(),
  side_effects: z.array(SideEffect).optional(),
  effects: EffectsDeclaration.strict().optional(),
  env: z.array(z.string().regex(ENV, 'not the name of a variable, or NAME=secret://name')).default([]),
  timeout_ms: z.int().positive().max(86_400_000).optional(),
  preset: JsonObject.optional(),
  examples: z.array(Example).optional(),
  usage: Text.optional(),
  args: z.array(NamedArgument).optional(),
  permissions: z.array(z.string()).optional(),
});
export type Action = z.infer<typeof Action>;

export const SlashCommand = z.strictObject({
  name: z
    .string()
    .regex(/^\/[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'a slash, then letters, digits, dot, dash or underscore'),
  summary: Text.optional(),
  description: Text.optional(),
  usage: Text.optional(),
  examples: z.array(Example).optional(),
  actions: z.array(Action).optional(),
  maps_to: z.looseObject({ capability: z.string().optional(), actions: z.array(Action).optional() }).optional(),
  default_action: z.string().optional(),
  /** The default for actions that set none. */
  runner: z.string().optional(),
  /** AgentOS' earlier format: a script of the extension. */
  entrypoint: z.string().optional(),
  args: z.array(NamedArgument).optional(),
  permissions: z.array(z.string()).optional(),
});
export type SlashCommand = z.infer<typeof SlashCommand>;

/** `commands.yaml`. */
export const CommandsFile = z
  .strictObject({
    version: z.unknown().optional(),
    slash_commands: z.array(SlashCommand).max(100).optional(),
    commands: z.array(SlashCommand).max(100).optional(),
  })
  .transform(({ slash_commands = [], commands = [] }) => ({ slash_commands: [...slash_commands, ...commands] }));
export type CommandsFile = z.infer<typeof CommandsFile>;

/** The commands of an installed extension. Empty if they can no longer be parsed. */
export const parseCommands = (commands: unknown): SlashCommand[] =>
  CommandsFile.safeParse(commands).data?.slash_commands ?? [];

export const textOf = (example: z.infer<typeof Example>): string =>
  typeof example === 'string' ? example : example.command;
