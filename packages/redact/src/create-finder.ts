import { createAutomaton, MAX_GAP } from './automaton.js';
import { knownForms } from './known-forms.js';
import { noiseMode, skeletonOf } from './noise.js';
import type { Rule, Verdict } from './rule.js';
import { RULES } from './rules/index.js';
import type { Finder } from './scanner.js';

/** A shorter value would blacken every other word, and guard little. */
const MIN_VALUE_LENGTH = 4;
/** Long enough to be rare in ordinary text; the rest of a value is compared where it stands. */
const ANCHOR_LENGTH = 8;
/** A line of a value of several lines (a key file) is looked for on its own, because it may come back indented. */
const MIN_LINE_LENGTH = 24;

/** Shorter values are looked for in one piece: two words may hold one between them by chance. */
const MIN_SPLIT_LENGTH = 8;

const literalsOf = (rules: readonly Rule[]) =>
  rules.flatMap((rule) => rule.anchors.map((text) => ({ text, value: rule, hidden: rule.hidden })));

/** Built once for all: a millisecond or two that no call need spend. */
export const SHAPES: Finder = createAutomaton(literalsOf(RULES), { fold: true });

/** Finds these values, in all their forms, also where noise splits them. Undefined when there is none to look for. */
export const createKnownFinder = (values: readonly string[]): Finder | undefined => {
  const spelt = new Set(values.flatMap(spellings).filter(isLongEnough));
  const forms = new Set([...spelt].flatMap(knownForms).map(skeletonOf).filter(isLongEnough));
  if (forms.size === 0) return undefined;
  return createAutomaton(literalsOf([...forms].map(knownRule)), { fold: false, skip_noise: true });
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

const knownRule = (form: string): Rule => {
  const anchor = form.slice(0, ANCHOR_LENGTH);
  return {
    id: 'known-value',
    anchors: [anchor],
    hidden: true,
    match: ({ text, final }, at, end) => {
      if (form.length < MIN_SPLIT_LENGTH && end - at > anchor.length) return null;
      return matchRest(text, { from: at, at: end, rest: form.slice(anchor.length), final });
    },
  };
};

type Rest = { from: number; at: number; rest: string; final: boolean };

/** What follows the anchor, noise aside. */
const matchRest = (text: string, { from, at: start, rest, final }: Rest): Verdict => {
  let mode = 0;
  let at = start;
  let gap = 0;
  for (let found = 0; found < rest.length; at += 1) {
    if (at >= text.length) return final ? null : { hold: from };
    const code = text.charCodeAt(at);
    const next = noiseMode(mode, code);
    mode = Math.max(0, next);
    if (next >= 0) {
      gap += 1;
      if (gap > MAX_GAP) return null;
    } else if (code === rest.charCodeAt(found)) {
      found += 1;
      gap = 0;
    } else return null;
  }
  return { from, to: at };
};
