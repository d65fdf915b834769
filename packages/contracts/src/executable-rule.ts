import { z } from 'zod';

const Text = z.string().min(1).max(1024);

/**
 * An option as a shape names it. `-q` and `--quiet` are switches. `-n=` and `--lines=` take a value, attached or as the next
 * argument; `--color[=]` takes one that is attached, or none. What follows the `=` is what the value has to look like, with `*` and `?`;
 * a `!` in front of it: what it may not look like. Of several for one option the last that matches counts. `-#` is a number, as in `-5`.
 */
const OptionName = z
  .string()
  .max(1024)
  .regex(/^(?:-#|--?[A-Za-z0-9][\w.+-]*(?:\[=\]|=.*)?)$/s, '-x, --name, --name=, --name=pattern, --name[=] or -#');

/** Arguments that a program may be given: those that are named, in any order, and no others. */
export const ArgumentShape = z.strictObject({
  command: Text.optional().describe('The words that come first: log, remote get-url'),
  before: z.array(OptionName).max(200).optional().describe('Options in front of the command'),
  options: z.array(OptionName).max(500).optional(),
  required: z.array(OptionName).max(20).optional().describe('Options that have to be there'),
  positionals: z
    .array(Text)
    .max(200)
    .optional()
    .describe(
      'What arguments without a dash look like, with * and ?; !pattern: what none may look like; the last that matches counts',
    ),
  max_positionals: z.int().min(0).optional(),
  options_first: z
    .boolean()
    .optional()
    .describe('The first argument is an option: without a dash it would be read as options, too'),
  words: z
    .boolean()
    .optional()
    .describe('Options are words with one dash, as in -name: letters are not bundled, and -- ends nothing'),
});
export type ArgumentShape = z.infer<typeof ArgumentShape>;

/** `true` in a policy is `required`: where it cannot be enforced, the run is refused. */
export const ExecOnce = z.union([z.literal(true), z.enum(['required', 'preferred'])]);
export type ExecOnce = z.infer<typeof ExecOnce>;

/** What a program that can start others may be called with. */
export const ExecutableRule = z.strictObject({
  profiles: z.array(Text).max(50).optional().describe('Ready-made shapes, by name'),
  shapes: z.array(ArgumentShape).max(500).optional(),
  any: z.literal(true).optional().describe('Any arguments, of a program that starts no others'),
  exec_once: ExecOnce.optional().describe('It may start no other program, whatever its arguments are'),
});
export type ExecutableRule = z.infer<typeof ExecutableRule>;

/** By the name of the program, or by its path for one outside of the system's directories. */
export const Executables = z.record(Text, ExecutableRule);
export type Executables = z.infer<typeof Executables>;
