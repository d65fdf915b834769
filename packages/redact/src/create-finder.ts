import { createAutomaton, MAX_GAP } from './automaton.js';
import { knownForms } from './known-forms.js';
import { skeletonOf } from './noise.js';
import type { Rule, Verdict } from './rule.js';
import { RULES } from './rules/index.js';
import type { Finder } from './scanner.js';
import { newWay, WAYS, type Way } from './ways.js';

/** A shorter value would redact parts of ordinary words and protect little. */
const MIN_VALUE_LENGTH = 4;
/** Long enough to be rare in ordinary text. The rest of a value is compared where an anchor is found. */
const ANCHOR_LENGTH = 8;
/** The lines of a multi-line value, such as a key file, are also searched individually, because they may appear indented. */
const MIN_LINE_LENGTH = 24;

/** Shorter values are not searched with noise in between, because two adjacent words may contain one by chance. */
const MIN_SPLIT_LENGTH = 8;

const literalsOf = (rules: readonly Rule[]) =>
  rules.flatMap((rule) => rule.anchors.map((text) => ({ text, value: rule, hidden: rule.hidden })));

/** Built once, because it takes one or two milliseconds. */
export const SHAPES: Finder = createAutomaton(literalsOf(RULES), { fold: true });

/** Finds values in all their forms, even if noise splits them. Undefined if there are no values to search for. */
export const createKnownFinder = (values: readonly string[]): Finder | undefined => {
  const spelt = new Set(values.flatMap(spellings).filter(isLongEnough));
  const forms = new Set([...spelt].flatMap(knownForms).map(skeletonOf).filter(isLongEnough));
  if (forms.size === 0) return undefined;
  return createAutomaton(literalsOf([...forms].map(knownRule)), { fold: false, skip_noise: true });
};

const isLongEnough = (value: string): boolean => value.length >= MIN_VALUE_LENGTH;

/**
 * A value read from a file ends with a line end, which programs strip. Terminals change the line ends of a multi-line value, and
 * shells join its lines.
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
      const rest = form.slice(anchor.length);
      for (const way of WAYS) {
        const verdict = matchRest(text, { from: at, at: end, rest, final, way: newWay(way) });
        if (verdict !== null) return verdict;
      }
      return null;
    },
  };
};

type Rest = { from: number; at: number; rest: string; final: boolean; way: Way };

/** Matches the rest of a value after the anchor, ignoring noise. */
const matchRest = (text: string, { from, at: start, rest, final, way }: Rest): Verdict => {
  let at = start;
  let gap = 0;
  for (let found = 0; found < rest.length; at += 1) {
    if (at >= text.length) return final ? null : { hold: from };
    const code = way.read(text.charCodeAt(at));
    if (code < 0) {
      gap += 1;
      if (gap > MAX_GAP) return null;
    } else if (code === rest.charCodeAt(found)) {
      found += 1;
      gap = 0;
    } else return null;
  }
  return { from, to: at };
};
