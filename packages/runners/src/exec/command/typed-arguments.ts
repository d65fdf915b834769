import type { Json, JsonObject } from '@capstan/contracts';
import { type Arguments, type CommandBinding, looksLikeOption, refused, toText } from './argument-text.js';
import { honoursDoubleDash } from './honours-double-dash.js';

const FLAG = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

/** Without a template: the action, the flags, the arguments as typed (`/postman get URL` → `postman get URL`). */
export function typedArguments(
  { action, executable }: CommandBinding,
  { args = [], flags = {} }: JsonObject,
): Arguments {
  if (!Array.isArray(args)) return refused('args must be a list');
  if (typeof flags !== 'object' || flags === null || Array.isArray(flags)) return refused('flags must be an object');
  const options: string[] = [];
  for (const [name, value] of Object.entries(flags)) {
    if (!FLAG.test(name)) return refused(`${JSON.stringify(name.slice(0, 40))} is not the name of a flag`);
    for (const each of Array.isArray(value) ? value : [value]) {
      const option = toOption(name, each);
      if (option === null) return refused(`the value of -${name} begins with "-" and could be taken for an option`);
      options.push(...option);
    }
  }
  const values = args.flatMap((each) => toText(each) ?? []);
  const risky = values.find(looksLikeOption);
  if (risky === undefined) return { args: [action, ...options, ...values] };
  if (!honoursDoubleDash(executable))
    return refused(
      `${JSON.stringify(risky.slice(0, 40))} begins with "-" and could be taken for an option of ${executable}`,
    );
  return { args: [action, ...options, '--', ...values] };
}

/** Null when it cannot be said safely. */
function toOption(name: string, value: Json): string[] | null {
  const flag = name.length === 1 ? `-${name}` : `--${name}`;
  if (value === true) return [flag];
  if (value === false || value === null) return [];
  const text = toText(value) ?? '';
  if (!looksLikeOption(text)) return [flag, text];
  return name.length === 1 ? null : [`${flag}=${text}`];
}
