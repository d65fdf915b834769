import type { ArgumentShape, ExecutableRule } from '@capstan/contracts';
import { type Command, judgeCommand, programOf } from './judge-command.js';
import { profilesOf } from './profile-book.js';

/** Suggests a rule that allows this command line: a built-in profile that matches it, otherwise exactly its own shape. */
export function suggestExecutable(command: Command): { program: string; rule: ExecutableRule } {
  const program = programOf(command.file);
  const allows = (rule: ExecutableRule) => judgeCommand(command, [{ [program]: rule }], { shell: false }).allowed;
  const profile = profilesOf(program).find((name) => allows({ profiles: [name] }));
  if (profile !== undefined) return { program, rule: { profiles: [profile] } };
  const any: ExecutableRule = { any: true };
  return { program, rule: allows(any) ? any : { shapes: [shapeOf(command.args)] } };
}

/** The exact shape of a command line. Words with a dash are options, with their attached values; the rest are arguments. */
export function shapeOf(args: readonly string[]): ArgumentShape {
  const end = args.indexOf('--');
  const before = end < 0 ? args : args.slice(0, end);
  const isOption = (arg: string) => arg.startsWith('-') && arg !== '-' && OPTION.test(arg);
  const positionals = [...before.filter((arg) => !isOption(arg)), ...(end < 0 ? [] : args.slice(end + 1))];
  const options = before.filter(isOption).flatMap((arg) => (arg.startsWith('--') ? [short(arg)] : letters(arg)));
  return {
    ...(options.length > 0 ? { options: [...new Set(options)] } : {}),
    ...(positionals.length > 0 ? { positionals: [...new Set(positionals.map(literal))] } : {}),
  };
}

const OPTION = /^--?[A-Za-z0-9][\w.+-]*(?:=.*)?$/s;
const short = (arg: string): string => (arg.length > MAX_TEXT ? arg.slice(0, arg.indexOf('=') + 1) : arg);
const letters = (arg: string): string[] =>
  /^-\d+$/.test(arg) ? ['-#'] : [...arg.slice(1)].map((letter) => `-${letter}`);
/** Text that begins with ! would be a negated pattern, and empty text is not a pattern. */
const literal = (text: string): string => {
  if (text === '' || text.length > MAX_TEXT) return '*';
  return text.startsWith('!') ? `?${text.slice(1)}` : text;
};
const MAX_TEXT = 200;
