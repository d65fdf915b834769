import { type CharClass, runEnd } from './char-class.js';
import { type Match, matchRule } from './match-rule.js';
import type { IndexedRule, RuleSet } from './rule-set.js';

export const REPLACEMENT = '[REDACTED]';

export type Scanner = {
  push(chunk: string): string;
  end(): string;
};

/**
 * Reads text in pieces and gives it back redacted, however it is cut.
 *
 *     given back │ held
 *     ───────────┼──────────────▶
 *                ▲ a place that cannot be decided yet: the end may be the beginning of a secret
 *
 * Every place of the text is decided once, in order, with all the text that its decision needs. So the pieces add up to
 * what the whole would have given. Matches that overlap become one replacement.
 */
export const createScanner = (rules: RuleSet): Scanner => {
  let held = '';
  /** Where the held text begins in the whole. */
  let base = 0;
  // Places in the whole: up to `covered` text is given back or replaced; up to `decided` no secret is left to find.
  let covered = 0;
  let decided = 0;
  /** Secrets that went on to the end of what was read. */
  let open: CharClass[] = [];
  const notBefore = new Array<number>(rules.size).fill(0);

  const goOn = (final: boolean): void => {
    const from = covered - base;
    const ends = open.map((members) => runEnd(members, held, from, held.length));
    covered = base + Math.max(from, ...ends);
    open = final ? [] : open.filter((_, index) => ends[index] === held.length);
  };

  const skipInside = (rule: IndexedRule, at: number, match: Match | 'none'): void => {
    if (!rule.closed) return;
    const [first] = rule.parts;
    if (match !== 'none') notBefore[rule.index] = base + match.to;
    else if (first && 'run' in first) {
      notBefore[rule.index] = base + runEnd(first.run, held, at, at + (first.max ?? held.length));
    }
  };

  /** What the rules with this anchor find at `at`, or undefined when more text is needed. */
  const matchesAt = (anchor: string, at: number, final: boolean): Match[] | undefined => {
    const matches: Match[] = [];
    for (const rule of rules.byAnchor.get(anchor) ?? []) {
      if (base + at < (notBefore[rule.index] ?? 0)) continue;
      const match = matchRule(rule, held, at, final);
      if (match === 'partial') return undefined;
      skipInside(rule, at, match);
      if (match !== 'none') matches.push(match);
    }
    return matches;
  };

  const scan = (final: boolean): string => {
    let out = '';
    if (open.length > 0) goOn(final);
    let keep = final ? held.length : held.length - rules.suspiciousTail(held);
    rules.anchor.lastIndex = decided - base;
    for (let found = rules.anchor.exec(held); found; found = rules.anchor.exec(held)) {
      const at = found.index;
      if (at >= keep) break;
      const matches = matchesAt(found[0], at, final);
      if (!matches) {
        keep = at;
        break;
      }
      let next = at + 1;
      for (const { from, to, open: members } of matches.sort((a, b) => a.from - b.from)) {
        if (base + from >= covered) {
          out += held.slice(covered - base, from) + REPLACEMENT;
          // What comes before the secret in its match, a header's name, holds none.
          next = Math.max(next, from);
        }
        covered = Math.max(covered, base + to);
        if (members && !open.includes(members)) open.push(members);
      }
      rules.anchor.lastIndex = next;
      decided = base + next;
    }
    if (covered < base + keep) {
      out += held.slice(covered - base, keep);
      covered = base + keep;
    }
    decided = Math.max(decided, base + keep);
    held = held.slice(keep);
    base += keep;
    return out;
  };

  return {
    push: (chunk) => {
      held = held === '' ? chunk : held + chunk;
      return scan(false);
    },
    end: () => scan(true),
  };
};
