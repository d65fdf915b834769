import { type CharClass, isMember } from './char-class.js';
import type { Place } from './dump-row.js';
import type { Rule } from './rule.js';
import type { Finder } from './scanner.js';

/** Searches known values in the bytes of a dump, row by row, under one interpretation of its cells. */
export type DumpLane = {
  /** Takes the bytes of a row. Returns the values found, by position in the lane. */
  push(bytes: string): Place[];
  /** Ends the lane: no more rows follow. */
  end(): Place[];
  /** The position before which everything is decided. */
  decided(): number;
  /** The number of bytes taken. */
  size(): number;
};

type Candidate = { rule: Rule; at: number; end: number };

export const createDumpLane = (finders: readonly Finder[]): DumpLane => {
  const readers = finders.map((finder) => finder.reader());
  let text = '';
  let base = 0;
  let candidates: Candidate[] = [];
  let limit = 0;
  const done = new Map<Rule, number>();
  const runEnd = (members: CharClass, at: number): number => {
    let end = at;
    while (end < text.length && isMember(members, text.charCodeAt(end))) end += 1;
    return end;
  };

  const decide = (final: boolean): Place[] => {
    const found: Place[] = [];
    limit = base + text.length;
    candidates = candidates.filter(({ rule, at, end }) => {
      if (at < (done.get(rule) ?? 0)) return false;
      const verdict = rule.match({ text, final, runEnd }, at - base, end - base, Number.POSITIVE_INFINITY);
      if (verdict === null) return false;
      if ('hold' in verdict) {
        limit = Math.min(limit, base + verdict.hold);
        return true;
      }
      found.push({ from: base + verdict.from, to: base + verdict.to });
      done.set(rule, base + verdict.to);
      return false;
    });
    if (!final)
      for (const { held } of readers)
        limit = Math.min(
          limit,
          held(() => true),
        );
    text = text.slice(limit - base);
    base = limit;
    return found;
  };

  return {
    push: (bytes) => {
      const start = base + text.length;
      text += bytes;
      const hit = (rule: Rule, at: number, end: number): void => {
        candidates.push({ rule, at, end });
      };
      for (const reader of readers) reader.read(bytes, start, hit);
      return decide(false);
    },
    end: () => decide(true),
    decided: () => limit,
    size: () => base + text.length,
  };
};
