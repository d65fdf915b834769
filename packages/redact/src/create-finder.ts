import { createAutomaton } from './automaton.js';
import { knownForms } from './known-forms.js';
import type { Rule } from './rule.js';
import { RULES } from './rules/index.js';
import type { Finder } from './scanner.js';

/** A shorter value would blacken every other word, and guard little. */
const MIN_VALUE_LENGTH = 4;
/** Long enough to be rare in ordinary text; the rest of a value is compared where it stands. */
const ANCHOR_LENGTH = 12;
/** A line of a value of several lines (a key file) is looked for on its own, because it may come back indented. */
const MIN_LINE_LENGTH = 24;

const literalsOf = (rules: readonly Rule[]) =>
  rules.flatMap((rule) => rule.anchors.map((text) => ({ text, value: rule, hidden: rule.hidden })));

/** Built once for all: a millisecond or two that no call need spend. */
export const SHAPES: Finder = createAutomaton(literalsOf(RULES), true);

/** Finds these values, in all their forms. Undefined when there is none to look for. */
export const createKnownFinder = (values: readonly string[]): Finder | undefined => {
  const spelt = new Set(values.flatMap(spellings).filter(isLongEnough));
  const forms = new Set([...spelt].flatMap(knownForms));
  if (forms.size === 0) return undefined;
  return createAutomaton(literalsOf([...forms].map(knownRule)), false);
};

const isLongEnough = (value: string): boolean => value.length >= MIN_VALUE_LENGTH;

/**
 * A value that came from a file ends with a line end, which whoever uses it takes off. Of several lines a terminal makes
 * others, and a shell a single one.
 */
const spellings = (value: string): string[] => {
  const lines = value.trim().split(/\r?\n/);
  return [
    value,
    ...['\n', '\r\n', ' '].map((end) => lines.join(end)),
    ...(lines.length > 1 ? lines.filter((line) => line.length >= MIN_LINE_LENGTH && !line.startsWith('-----')) : []),
  ];
};

const knownRule = (form: string): Rule => ({
  id: 'known-value',
  anchors: [form.slice(0, ANCHOR_LENGTH)],
  hidden: true,
  match: ({ text, final }, at) => {
    if (text.startsWith(form, at)) return { from: at, to: at + form.length };
    return !final && text.length - at < form.length && form.startsWith(text.slice(at)) ? { hold: at } : null;
  },
});
