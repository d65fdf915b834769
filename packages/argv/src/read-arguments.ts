import { matchesWildcard } from '@capstan/contracts';
import type { Option, Options } from './parse-option.js';

/**
 * The arguments of a command line as parsed by a shape, or the reason why they do not match. `first` are the options before any other
 * argument: some programs read no options after one (awk, and all with POSIXLY_CORRECT), or do something else until they find one (git config).
 */
export type ReadArguments = { first: ReadonlySet<string>; positionals: string[]; rest: string[] } | { refused: string };

export type Reading = {
  options: Options;
  /** True if options are words with one dash, as in find. */
  words: boolean;
  /** True if parsing stops at the first argument that is not an option. */
  leading: boolean;
};

/**
 * Parses arguments as getopt does, but strictly: options are not abbreviated, a switch has no value, and a separate value never begins
 * with a dash. So every word that a program would read as an option is read as one here.
 */
export function readArguments(args: readonly string[], { options, words, leading }: Reading): ReadArguments {
  const first = new Set<string>();
  const positionals: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '--' && !words && !leading)
      return { first, positionals: [...positionals, ...args.slice(at + 1)], rest: [] };
    if (!arg.startsWith('-') || arg === '-') {
      if (leading) return { first, positionals, rest: args.slice(at) };
      positionals.push(arg);
      continue;
    }
    const read = readOption(arg, args[at + 1], options, words);
    if ('refused' in read) return read;
    if (positionals.length === 0) for (const name of read.names) first.add(name);
    if (read.takes_next) at += 1;
  }
  return { first, positionals, rest: [] };
}

/** A negative value, as in `-mtime -7`. No option has such a name. */
const NUMBER = /^-\d+[a-zA-Z]?$/;

type ReadOption = { names: string[]; takes_next: boolean } | { refused: string };

function readOption(arg: string, next: string | undefined, options: Options, words: boolean): ReadOption {
  if (options.takes_number && /^-\d+$/.test(arg)) return { names: [arg], takes_next: false };
  if (words) return readNamed(arg, undefined, next, options);
  if (!arg.startsWith('--')) return readLetters(arg, next, options);
  const at = arg.indexOf('=');
  return at < 0
    ? readNamed(arg, undefined, next, options)
    : readNamed(arg.slice(0, at), arg.slice(at + 1), next, options);
}

/** Parses combined letters. The last one may take the rest of the word as its value. */
function readLetters(arg: string, next: string | undefined, options: Options): ReadOption {
  const names: string[] = [];
  for (let at = 1; at < arg.length; at += 1) {
    const name = `-${arg[at]}`;
    const rest = arg.slice(at + 1);
    const takes_value = options.get(name)?.some(({ value }) => value !== null) ?? false;
    const read = readNamed(name, takes_value && rest !== '' ? rest : undefined, next, options);
    if ('refused' in read) return read;
    names.push(name);
    if (takes_value) return { names, takes_next: read.takes_next };
  }
  return { names, takes_next: false };
}

function readNamed(name: string, attached: string | undefined, next: string | undefined, options: Options): ReadOption {
  const found = options.get(name);
  if (!found) return { refused: `${quote(name)} is not an option that is allowed` };
  if (attached === undefined && found.some(({ value, optional }) => value === null || optional))
    return { names: [name], takes_next: false };
  if (attached === undefined && (next === undefined || (next.startsWith('-') && !NUMBER.test(next))))
    return { refused: `the value of ${name} is missing, or begins with a dash: write it attached to the option` };
  const value = attached ?? next ?? '';
  return isTaken(found, value)
    ? { names: [name], takes_next: attached === undefined }
    : { refused: `${quote(value)} is not a value of ${name} that is allowed` };
}

const isTaken = (options: readonly Option[], text: string): boolean =>
  fits(
    options.flatMap(({ value }) => value ?? []),
    text,
  );

/** The last matching pattern decides. A list that begins with a negated pattern allows everything else. */
export function fits(patterns: readonly string[], text: string): boolean {
  let taken = patterns[0]?.startsWith('!') ?? false;
  for (const pattern of patterns) {
    const refuses = pattern.startsWith('!');
    if (matchesWildcard(refuses ? pattern.slice(1) : pattern, text)) taken = !refuses;
  }
  return taken;
}

export const quote = (text: string): string => JSON.stringify(text.slice(0, 60));
