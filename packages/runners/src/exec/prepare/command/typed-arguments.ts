import type { Json, JsonObject } from '@capstan/contracts';
import {
  type Arguments,
  type CommandBinding,
  honoursDoubleDash,
  looksLikeOption,
  refused,
  toText,
} from './argument-text.js';

/** A flag by name, or as written on a command line: with dashes, and with `=` if its value is joined to it. */
const FLAG = /^(?<dashes>--?)?(?<name>[A-Za-z0-9][A-Za-z0-9_.-]*)(?<joined>=)?$/;

/** Without a template: the action, the flags, the arguments as typed (`/postman get URL` → `postman get URL`). */
export function typedArguments(
  { action, executable }: CommandBinding,
  { args = [], flags = {} }: JsonObject,
): Arguments {
  if (!Array.isArray(args)) return refused('args must be a list');
  if (typeof flags !== 'object' || flags === null || Array.isArray(flags)) return refused('flags must be an object');
  const options: string[] = [];
  for (const [name, value] of Object.entries(flags)) {
    const flag = flagOf(name);
    if (flag === null) return refused(`${JSON.stringify(name.slice(0, 40))} is not the name of a flag`);
    for (const each of Array.isArray(value) ? value : [value]) {
      const option = toOption(flag, each);
      if (option === null) return refused(`the value of ${flag.text} begins with "-" and could be taken for an option`);
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

type Flag = { text: string; joined: boolean };

function flagOf(given: string): Flag | null {
  const { dashes, name, joined } = FLAG.exec(given)?.groups ?? {};
  if (name === undefined) return null;
  return { text: `${dashes ?? (name.length === 1 ? '-' : '--')}${name}`, joined: joined !== undefined };
}

/** Null if the value cannot be passed safely. */
function toOption({ text: flag, joined }: Flag, value: Json): string[] | null {
  if (value === true) return [flag];
  if (value === false || value === null) return [];
  const text = toText(value) ?? '';
  if (joined) return [`${flag}=${text}`];
  if (!looksLikeOption(text)) return [flag, text];
  return flag.startsWith('--') ? [`${flag}=${text}`] : null;
}
