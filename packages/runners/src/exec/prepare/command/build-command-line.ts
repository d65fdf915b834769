import type { JsonObject } from '@capstan/contracts';
import type { Program } from '../program.js';
import {
  type Arguments,
  type AtipBinding,
  type CommandBinding,
  looksLikeOption,
  type Refusal,
  refused,
} from './argument-text.js';
import { atipArguments } from './atip-arguments.js';
import { templateArguments } from './template-arguments.js';
import { typedArguments } from './typed-arguments.js';

/** The command to start: the name of an executable, its arguments and its standard input. */
export type CommandLine = { file: string; args: string[]; stdin: string | undefined } & Pick<
  Program,
  'chosen_by' | 'literal'
>;

/** The longest argument that Linux accepts (MAX_ARG_STRLEN, which includes the final NUL). */
const MAX_ARGUMENT_BYTES = 131_071;
const MAX_ARGUMENTS = 10_000;

/**
 * Builds the argument list of a process from inputs. A value is one element, whatever it contains: no shell reads it and nothing
 * splits it. A value that could be taken for an option goes after `--`, or is refused.
 */
export function buildCommandLine(binding: CommandBinding | AtipBinding, inputs: JsonObject): CommandLine | Refusal {
  const built = argumentsOf(binding, inputs);
  if ('error' in built) return built;
  const wrong = built.args.map(unusable).find((reason) => reason !== null);
  if (wrong) return refused(wrong);
  if (built.args.length > MAX_ARGUMENTS) return refused(`makes more than ${MAX_ARGUMENTS} arguments`);
  return { file: binding.executable, args: built.args, stdin: built.stdin, ...originOf(binding) };
}

function argumentsOf(binding: CommandBinding | AtipBinding, inputs: JsonObject): Arguments {
  if (binding.kind === 'atip') return atipArguments(binding, inputs);
  return binding.argv === null ? typedArguments(binding, inputs) : templateArguments(binding, binding.argv, inputs);
}

/** Who chose which arguments. Without a template the caller chose all but the name of the action. */
function originOf(binding: CommandBinding | AtipBinding): Pick<Program, 'chosen_by' | 'literal'> {
  if (binding.kind === 'atip')
    return { chosen_by: binding.parameters.length > 0 ? 'author' : 'nobody', literal: binding.path.length };
  const { argv, stdin } = binding;
  if (argv === null) return { chosen_by: 'caller', literal: 1 };
  const first = argv.findIndex(hasPlaceholder);
  if (first < 0) return { chosen_by: hasPlaceholder(stdin ?? '') ? 'author' : 'nobody', literal: argv.length };
  // An option right before a placeholder does not count as literal: it takes the value, or is left out with it.
  return { chosen_by: 'author', literal: looksLikeOption(argv[first - 1] ?? '') ? first - 1 : first };
}

const hasPlaceholder = (template: string): boolean => /\{\{(\.\.\.)?[\w.-]+\}\}/.test(template);

function unusable(arg: string): string | null {
  if (arg.includes('\0')) return 'an argument holds a NUL byte, which no argument of a process can';
  if (Buffer.byteLength(arg) > MAX_ARGUMENT_BYTES)
    return `an argument is longer than ${MAX_ARGUMENT_BYTES} bytes; pass such a text through stdin`;
  return null;
}
