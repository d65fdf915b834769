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
  const forms = new Set(values.flatMap(withLines).filter(isLongEnough).flatMap(knownForms));
  if (forms.size === 0) return undefined;
  return createAutomaton(literalsOf([...forms].map(knownRule)), false);
};

const isLongEnough = (value: string): boolean => value.length >= MIN_VALUE_LENGTH;

const withLines = (value: string): string[] =>
  value.includes('\n')
    ? [value, ...value.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_LENGTH && !line.startsWith('-----'))]
    : [value];

const knownRule = (form: string): Rule => ({
  id: 'known-value',
  anchors: [form.slice(0, ANCHOR_LENGTH)],
  hidden: true,
  match: ({ text, final }, at) => {
    if (text.startsWith(form, at)) return { from: at, to: at + form.length };
    return !final && text.length - at < form.length && form.startsWith(text.slice(at)) ? { hold: at } : null;
  },
});
