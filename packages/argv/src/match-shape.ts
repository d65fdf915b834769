import type { ArgumentShape } from '@capstan/contracts';
import { compileOptions, parseOption } from './parse-option.js';
import { fits, quote, readArguments } from './read-arguments.js';

/** Null when the arguments have this shape, else why not, and how far they were read: the further, the nearer a miss. */
export type MatchShape = (args: readonly string[]) => { why: string; read: number } | null;

export function compileShape(shape: ArgumentShape): MatchShape {
  const { command, positionals = [], max_positionals = Infinity, required = [], words = false } = shape;
  const leading = { options: compileOptions(shape.before), words, leading: true };
  const reading = { options: compileOptions([...(shape.options ?? []), ...required]), words, leading: false };
  const named = command?.split(' ').filter(Boolean) ?? [];
  return (args) => {
    if (shape.options_first && !args[0]?.startsWith('-'))
      return { why: 'the first argument is not an option', read: 0 };
    let rest = args;
    if (named.length > 0) {
      const before = readArguments(args, leading);
      if ('refused' in before) return { why: before.refused, read: 0 };
      if (!named.every((word, at) => before.rest[at] === word))
        return { why: `the command is not ${command}`, read: 0 };
      rest = before.rest.slice(named.length);
    }
    const read = readArguments(rest, reading);
    if ('refused' in read) return { why: read.refused, read: 1 };
    const missing = required.map((text) => parseOption(text).name).find((name) => !read.options.has(name));
    if (missing !== undefined) return { why: `${missing} is missing`, read: 1 };
    if (read.positionals.length > max_positionals) return { why: `more than ${max_positionals} arguments`, read: 1 };
    const wrong = read.positionals.find((text) => !fits(positionals, text));
    return wrong === undefined ? null : { why: `${quote(wrong)} is not an argument that is allowed`, read: 1 };
  };
}
