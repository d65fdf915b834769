import type { JsonObject } from '@capstan/contracts';
import {
  type Arguments,
  type CommandBinding,
  honoursDoubleDash,
  inputOf,
  looksLikeOption,
  refused,
  toText,
} from './argument-text.js';

const PLACEHOLDER = /\{\{(\.\.\.)?([\w.-]+)\}\}/g;
const WHOLE = /^\{\{(\.\.\.)?([\w.-]+)\}\}$/;

/** An element of the final list. `from_input`: its first character came from the caller. */
type Element = { text: string; from_input: boolean; is_number: boolean };

/**
 * `{{name}}` inserts an input as one element or part of it, `{{...names}}` a list as several elements. An element whose input is absent
 * is left out, and so is an option right before it: `["--header", "{{header}}"]`.
 */
export function templateArguments(
  { executable, stdin }: CommandBinding,
  argv: string[],
  inputs: JsonObject,
): Arguments {
  const elements: Element[] = [];
  let optionBefore = false;
  for (const template of argv) {
    const filled = fill(template, inputs);
    if (filled === null && optionBefore) elements.pop();
    elements.push(...(filled ?? []));
    optionBefore = isLiteralOption(template);
  }
  const args = protect(executable, elements);
  if (!Array.isArray(args)) return args;
  return { args, stdin: stdin === undefined ? undefined : fillText(stdin, inputs) };
}

const isLiteralOption = (template: string): boolean =>
  template.startsWith('-') && template !== '--' && template.search(PLACEHOLDER) < 0;

/** Null if one of its inputs is absent. */
function fill(template: string, inputs: JsonObject): Element[] | null {
  const whole = WHOLE.exec(template);
  const value = whole ? inputOf(inputs, whole[2] ?? '') : undefined;
  if (whole?.[1] && Array.isArray(value)) {
    const elements = value.flatMap((each) => toElement(toText(each), typeof each === 'number'));
    return elements.length === 0 ? null : elements;
  }
  if (whole) {
    const elements = toElement(toText(value), typeof value === 'number');
    return elements.length === 0 ? null : elements;
  }
  const text = fillText(template, inputs);
  return text === undefined ? null : [{ text, from_input: template.startsWith('{{'), is_number: false }];
}

const toElement = (text: string | null, is_number: boolean): Element[] =>
  text === null ? [] : [{ text, from_input: true, is_number }];

/** Undefined if one of its inputs is absent. */
function fillText(template: string, inputs: JsonObject): string | undefined {
  let absent = false;
  const text = template.replace(PLACEHOLDER, (_, _spread, name: string) => {
    const value = toText(inputOf(inputs, name));
    absent ||= value === null;
    return value ?? '';
  });
  return absent ? undefined : text;
}

/** Inserts `--` before trailing values if one of them could be taken for an option, and refuses the rest that `--` cannot protect. */
function protect(executable: string, elements: Element[]): string[] | ReturnType<typeof refused> {
  const texts = elements.map(({ text }) => text);
  const dashes = elements.findIndex(({ text, from_input }) => text === '--' && !from_input);
  const risky = elements.findIndex(
    ({ text, from_input, is_number }, at) =>
      from_input &&
      looksLikeOption(text) &&
      !(dashes >= 0 && at > dashes && honoursDoubleDash(executable)) &&
      // A negative number after an option is its value: `head -n -5`.
      !(is_number && at > 0 && elements[at - 1]?.from_input === false && looksLikeOption(texts[at - 1] ?? '')),
  );
  if (risky < 0) return texts;
  const trailing = elements.findLastIndex(({ from_input }) => !from_input) + 1;
  const behindOption = trailing > 0 && looksLikeOption(texts[trailing - 1] ?? '');
  if (dashes < 0 && risky >= trailing && !behindOption && honoursDoubleDash(executable))
    return [...texts.slice(0, trailing), '--', ...texts.slice(trailing)];
  return refused(
    `${JSON.stringify(texts[risky]?.slice(0, 40))} begins with "-" and could be taken for an option of ${executable}`,
  );
}
