import { z } from 'zod';

const Text = z.string().min(1).max(1024);

/**
 * An option in a shape. `-q` and `--quiet` are switches. `-n=` and `--lines=` take a value, attached or as the next argument;
 * `--color[=]` takes an attached value or none. The text after `=` is a pattern for the value, with `*` and `?`; `!` negates it. Of
 * several patterns for one option the last match decides. `-#` is a number, as in `-5`.
 */
const OptionName = z
  .string()
  .max(1024)
  .regex(/^(?:-#|--?[A-Za-z0-9][\w.+-]*(?:\[=\]|=.*)?)$/s, '-x, --name, --name=, --name=pattern, --name[=] or -#');

/** The arguments that a program may have: only those listed, in any order. */
export const ArgumentShape = z.strictObject({
  command: Text.optional().describe('The words that come first: log, remote get-url'),
  before: z.array(OptionName).max(200).optional().describe('Options before the command'),
  options: z.array(OptionName).max(500).optional(),
  required: z.array(OptionName).max(20).optional().describe('Options that must be present, before any other argument'),
  positionals: z
    .array(Text)
    .max(200)
    .optional()
    .describe('Patterns for positional arguments, with * and ?; !pattern excludes; the last match decides'),
  max_positionals: z.int().min(0).optional(),
  options_first: z
    .boolean()
    .optional()
    .describe('The first argument must be an option, because the program reads it as options even without a dash'),
  words: z
    .boolean()
    .optional()
    .describe(
      'Options are words with one dash, as in -name: letters are not combined, and -- does not end the options',
    ),
});
export type ArgumentShape = z.infer<typeof ArgumentShape>;

/** `true` in a policy means `required`: if it cannot be enforced, the call is refused. */
export const ExecOnce = z.union([z.literal(true), z.enum(['required', 'preferred'])]);
export type ExecOnce = z.infer<typeof ExecOnce>;

/** The arguments allowed for a program that can start others. */
export const ExecutableRule = z.strictObject({
  profiles: z.array(Text).max(50).optional().describe('Built-in shapes, by name'),
  shapes: z.array(ArgumentShape).max(500).optional(),
  any: z.literal(true).optional().describe('Any arguments, for a program that does not start others'),
  exec_once: ExecOnce.optional().describe('The program may not start another one, whatever its arguments are'),
});
export type ExecutableRule = z.infer<typeof ExecutableRule>;

/** Rules by program name, or by path for programs outside of the system directories. */
export const Executables = z.record(Text, ExecutableRule);
export type Executables = z.infer<typeof Executables>;
