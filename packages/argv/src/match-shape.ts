import type { ArgumentShape } from '@capstan/contracts';
import { compileOptions, parseOption } from './parse-option.js';
import { fits, quote, readArguments } from './read-arguments.js';

/** `read` is larger for a closer match: 0 if not even the beginning matches, 2 if the command of the shape does. */
type Miss = { why: string; read: 0 | 1 | 2 };

/** Returns null if the arguments match the shape, otherwise the reason. */
export type MatchShape = (args: readonly string[]) => Miss | null;

export function compileShape(shape: ArgumentShape): MatchShape {
  const { command, positionals = [], max_positionals = Infinity, required = [], words = false } = shape;
  const leading = { options: compileOptions(shape.before), words, leading: true };
  const reading = { options: compileOptions([...(shape.options ?? []), ...required]), words, leading: false };
  const named = command?.split(' ').filter(Boolean) ?? [];
  const close = named.length > 0 ? 2 : 1;
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
    if ('refused' in read) return { why: read.refused, read: close };
    const missing = required.map((text) => parseOption(text).name).find((name) => !read.first.has(name));
    if (missing !== undefined)
      return { why: `${missing} is missing, or not in front of the other arguments`, read: close };
    if (read.positionals.length > max_positionals)
      return { why: `more than ${max_positionals} arguments`, read: close };
    const wrong = read.positionals.find((text) => !fits(positionals, text));
    return wrong === undefined ? null : { why: `${quote(wrong)} is not an argument that is allowed`, read: close };
  };
}
