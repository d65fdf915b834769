import { type CharClass, isMember } from './char-class.js';
import type { Part, Rule } from './rules.js';

/** Long enough to be rare in ordinary text, short enough that hardly any ordinary text is held back for it. */
const ANCHOR_LENGTH = 8;

export type IndexedRule = Rule & {
  readonly index: number;
  /**
   * All that a match can hold also belongs to its last run, so that the same rule, tried again inside of what it just
   * took or refused, ends at the same place. Not trying it again is what keeps `eyJeyJeyJ…` linear.
   */
  readonly closed: boolean;
};

/**
 * The rules, found by their first characters: one native search over the text, and work only where it stops.
 * No anchor is the beginning of another, so at most one fits at any place.
 */
export type RuleSet = {
  readonly size: number;
  readonly anchor: RegExp;
  readonly byAnchor: ReadonlyMap<string, readonly IndexedRule[]>;
  /** How many characters at the end of `text` may be the beginning of an anchor. */
  suspiciousTail(text: string): number;
};

export const createRuleSet = (rules: readonly Rule[]): RuleSet => {
  const indexed = rules.map((rule, index) => ({ ...rule, index, closed: isClosed(rule) }));
  const anchors = shortestOnly(rules.flatMap((rule) => rule.starts.map((start) => start.slice(0, ANCHOR_LENGTH))));
  const byAnchor = new Map(
    anchors.map((anchor) => [anchor, indexed.filter(({ starts }) => starts.some((start) => start.startsWith(anchor)))]),
  );
  const beginnings = new Set(anchors.flatMap((anchor) => Array.from(anchor, (_, length) => anchor.slice(0, length))));
  beginnings.delete('');
  return {
    size: rules.length,
    anchor: new RegExp(anchors.map(escapeRegExp).join('|'), 'g'),
    byAnchor,
    suspiciousTail: (text) => {
      for (let length = Math.min(ANCHOR_LENGTH - 1, text.length); length > 0; length -= 1) {
        if (beginnings.has(text.slice(-length))) return length;
      }
      return 0;
    },
  };
};

const isClosed = ({ starts, parts }: Rule): boolean => {
  const last = parts.at(-1);
  if (last === undefined || !('run' in last)) return false;
  const within = (literal: string) => Array.from(literal).every((char) => isMember(last.run, char));
  return starts.every(within) && parts.every((part) => isWithin(part, last.run, within));
};

const isWithin = (part: Part, outer: CharClass, within: (literal: string) => boolean): boolean =>
  'run' in part ? part.run.every((member, code) => member === 0 || outer[code] === 1) : part.one_of.every(within);

const shortestOnly = (anchors: string[]): string[] => {
  const kept: string[] = [];
  for (const anchor of [...new Set(anchors)].sort((a, b) => a.length - b.length)) {
    if (!kept.some((shorter) => anchor.startsWith(shorter))) kept.push(anchor);
  }
  return kept;
};

const escapeRegExp = (literal: string): string => literal.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
