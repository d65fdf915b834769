import type { JsonObject } from '@capstan/contracts';
import { type Arguments, type AtipBinding, type CommandBinding, type Refusal, refused } from './argument-text.js';
import { atipArguments } from './atip-arguments.js';
import { refuseDangerous } from './dangerous-arguments.js';
import { templateArguments } from './template-arguments.js';
import { typedArguments } from './typed-arguments.js';

/** What is to be started: the name of an executable, its arguments, and what goes to its standard input. */
export type CommandLine = { file: string; args: string[]; stdin: string | undefined };

/** Linux refuses a longer argument of a process (MAX_ARG_STRLEN, with the NUL at its end). */
const MAX_ARGUMENT_BYTES = 131_071;
const MAX_ARGUMENTS = 10_000;

/**
 * From inputs to the argument list of a process. A value is one element, whatever stands in it: no shell reads it, nothing
 * splits it. What could be read as an option goes after `--`, or is refused.
 */
export function buildCommandLine(binding: CommandBinding | AtipBinding, inputs: JsonObject): CommandLine | Refusal {
  const built = argumentsOf(binding, inputs);
  if ('error' in built) return built;
  const wrong = built.args.map(unusable).find((reason) => reason !== null);
  if (wrong) return refused(wrong);
  if (built.args.length > MAX_ARGUMENTS) return refused(`makes more than ${MAX_ARGUMENTS} arguments`);
  const dangerous = refuseDangerous(binding.executable, built.args, literals(binding));
  if (dangerous) return refused(dangerous);
  return { file: binding.executable, args: built.args, stdin: built.stdin };
}

function argumentsOf(binding: CommandBinding | AtipBinding, inputs: JsonObject): Arguments {
  if (binding.kind === 'atip') return atipArguments(binding, inputs);
  return binding.argv === null ? typedArguments(binding, inputs) : templateArguments(binding, binding.argv, inputs);
}

/** What the author of the tool wrote is not the caller's doing. */
const literals = (binding: CommandBinding | AtipBinding): ReadonlySet<string> =>
  new Set(binding.kind === 'atip' ? binding.parameters.flatMap(({ flags }) => flags) : binding.argv);

function unusable(arg: string): string | null {
  if (arg.includes('\0')) return 'an argument holds a NUL byte, which no argument of a process can';
  if (Buffer.byteLength(arg) > MAX_ARGUMENT_BYTES)
    return `an argument is longer than ${MAX_ARGUMENT_BYTES} bytes; pass such a text through stdin`;
  return null;
}
