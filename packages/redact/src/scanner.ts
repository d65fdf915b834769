import type { Automaton } from './automaton.js';
import { type CharClass, isMember } from './char-class.js';
import { LOOK_BEHIND, type Rule, type Verdict, type View } from './rule.js';

export const REPLACEMENT = '[REDACTED]';

export type Scanner = {
  push(chunk: string): string;
  end(): string;
};

export type Finder = Automaton<Rule>;

/** A place where a rule's anchor stands and that is not decided yet. Places here are in the whole. */
type Candidate = { rule: Rule; at: number; end: number; since_mark: number };
type Span = { from: number; to: number };
type CachedRun = { from: number; to: number };

/**
 * Reads text in pieces and gives it back redacted, however it is cut.
 *
 *     forgotten │ looked behind │ given back │ held
 *     ──────────┼───────────────┼────────────┼────────▶
 *               ▲ base                       ▲ given: the end may be the beginning of a secret
 *
 * Every candidate is decided once, with all the text that its decision needs. So the pieces add up to what the whole would
 * have given. Secrets that overlap become one replacement.
 */
export const createScanner = (finders: readonly Finder[]): Scanner => {
  let text = '';
  let base = 0;
  let given = 0;
  /** Where the last replacement ended. */
  let replaced_to = 0;
  let final = false;
  let candidates: Candidate[] = [];
  let spans: Span[] = [];
  /** Secrets that reached the end of what was read. */
  let open: { span: Span; members: CharClass }[] = [];
  const readers = finders.map((finder) => finder.reader());
  const runs = new Map<CharClass, CachedRun>();
  let mark = Number.NEGATIVE_INFINITY;
  /** Up to where each rule has found what it can find. */
  const done = new Map<Rule, number>();

  const view: View = {
    get text() {
      return text;
    },
    get final() {
      return final;
    },
    runEnd: (members, at) => {
      const cached = runs.get(members);
      const from = base + at;
      const goesOn = cached !== undefined && cached.from <= from && from <= cached.to;
      let end = goesOn ? cached.to - base : at;
      while (end < text.length && isMember(members, text.charCodeAt(end))) end += 1;
      runs.set(members, { from: goesOn ? cached.from : from, to: base + end });
      return end;
    },
  };

  const find = (chunk: string): void => {
    const start = base + text.length - chunk.length;
    const hit = (rule: Rule, at: number, end: number): void => {
      if (rule.mark) mark = at;
      else if (rule.begins?.(text, at - base) !== false) candidates.push({ rule, at, end, since_mark: at - mark });
    };
    for (const reader of readers) reader.read(chunk, start, hit);
  };

  /** Decides what can be decided; returns the place up to which all is decided. */
  const decide = (): number => {
    let limit = base + text.length;
    const undecided: Candidate[] = [];
    for (const candidate of candidates) {
      if (candidate.at < (done.get(candidate.rule) ?? 0)) continue;
      const verdict = candidate.rule.match(view, candidate.at - base, candidate.end - base, candidate.since_mark);
      if (verdict === null) continue;
      if ('hold' in verdict) {
        undecided.push(candidate);
        limit = Math.min(limit, base + verdict.hold);
      } else take(candidate.rule, verdict);
    }
    candidates = undecided;
    return limit;
  };

  const take = (rule: Rule, { from, to, rest }: Extract<Verdict, { to: number }>): void => {
    const span = { from: base + from, to: base + to };
    spans.push(span);
    done.set(rule, Math.max(done.get(rule) ?? 0, span.to));
    if (rest && !final && to === text.length) open.push({ span, members: rest });
  };

  /** What reached the end of the last chunk goes on in this one. */
  const goOn = (chunk: string): void => {
    const start = text.length - chunk.length;
    open = open.filter(({ span, members }) => {
      const end = view.runEnd(members, start);
      span.to = base + end;
      // Its replacement is given already.
      if (span.from < given) {
        given = Math.max(given, span.to);
        replaced_to = given;
      }
      return end === text.length;
    });
  };

  const give = (limit: number): string => {
    let out = '';
    spans.sort((a, b) => a.from - b.from || a.to - b.to);
    const later: Span[] = [];
    for (const span of spans) {
      if (span.from >= limit) {
        later.push(span);
        continue;
      }
      if (span.from >= given) out += text.slice(given - base, span.from - base) + REPLACEMENT;
      // Its beginning was too little to be held, and is given already.
      else if (span.from >= replaced_to && span.to > given) out += REPLACEMENT;
      given = Math.max(given, span.to);
      replaced_to = Math.max(replaced_to, span.to);
    }
    spans = later;
    if (given < limit) {
      out += text.slice(given - base, limit - base);
      given = limit;
    }
    return out;
  };

  const forget = (): void => {
    const needed = candidates.reduce((least, { at }) => Math.min(least, at), given);
    const keep = Math.max(0, Math.min(needed, given) - base - LOOK_BEHIND);
    if (keep === 0) return;
    text = text.slice(keep);
    base += keep;
  };

  const scan = (chunk: string): string => {
    if (open.length > 0) goOn(chunk);
    find(chunk);
    const decided = decide();
    const mayBegin = (rule: Rule, from: number) => rule.begins?.(text, from - base) ?? true;
    const limit = final ? decided : readers.reduce((least, { held }) => Math.min(least, held(mayBegin)), decided);
    const out = give(Math.max(given, limit));
    forget();
    return out;
  };

  return {
    push: (chunk) => {
      if (chunk === '') return '';
      text = text === '' ? chunk : text + chunk;
      return scan(chunk);
    },
    end: () => {
      final = true;
      return scan('');
    },
  };
};
