import type { Json, JsonObject } from '@capstan/contracts';
import {
  type Arguments,
  type AtipBinding,
  honoursDoubleDash,
  inputOf,
  looksLikeOption,
  refused,
  toText,
} from './argument-text.js';

type Parameter = AtipBinding['parameters'][number];

/** The path of the command, its options, and its positional arguments in the order of their declaration. */
export function atipArguments(
  { executable, path, parameters, always = [] }: AtipBinding,
  inputs: JsonObject,
): Arguments {
  const options: string[] = [];
  for (const parameter of parameters.filter(({ flags }) => flags.length > 0)) {
    const built = optionArguments(parameter, inputOf(inputs, parameter.name));
    if (built === null)
      return refused(`the value of ${parameter.name} begins with "-" and could be taken for an option`);
    options.push(...built);
  }
  const positionals = parameters
    .filter(({ flags }) => flags.length === 0)
    .flatMap(({ name }) => toTexts(inputOf(inputs, name)));
  const head = [...path, ...always, ...options];
  const risky = positionals.find(looksLikeOption);
  if (risky === undefined) return { args: [...head, ...positionals] };
  if (!honoursDoubleDash(executable))
    return refused(
      `${JSON.stringify(risky.slice(0, 40))} begins with "-" and could be taken for an option of ${executable}`,
    );
  return { args: [...head, '--', ...positionals] };
}

/** A switch is present or absent; a list repeats its flag. Null if the value cannot be passed safely. */
function optionArguments({ type, flags, variadic }: Parameter, value: Json | undefined): string[] | null {
  const flag = flags[0] ?? '';
  if (value === undefined || value === null) return [];
  if (type === 'boolean' && !variadic) return value === true || value === 'true' ? [flag] : [];
  const built = toTexts(value).map((text) => withValue(flag, text));
  return built.some((each) => each === null) ? null : built.flatMap((each) => each ?? []);
}

function withValue(flag: string, text: string): string[] | null {
  if (!looksLikeOption(text)) return [flag, text];
  return flag.startsWith('--') ? [`${flag}=${text}`] : null;
}

const toTexts = (value: Json | undefined): string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((each) => toText(each) ?? []);
