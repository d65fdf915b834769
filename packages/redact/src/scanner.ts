import type { Automaton } from './automaton.js';
import { type CharClass, isMember } from './char-class.js';
import { LOOK_BEHIND, type Rule, type Verdict, type View } from './rule.js';

export const REPLACEMENT = '[REDACTED]';

export type Scanner = {
  push(chunk: string): string;
  end(): string;
};

export type Finder = Automaton<Rule>;

/** An anchor that is not decided yet. Positions are relative to the whole text. */
type Candidate = { rule: Rule; at: number; end: number; since_mark: number };
type Span = { from: number; to: number };
type CachedRun = { from: number; to: number };

/**
 * Redacts text in chunks. The output does not depend on how the text is split.
 *
 *     discarded │ look-behind   │ emitted    │ held back
 *     ──────────┼───────────────┼────────────┼────────▶
 *               ▲ base                       ▲ given: a secret may begin here
 *
 * Every candidate is decided once, with all the text that the decision needs. Overlapping secrets become one replacement.
 */
class TextScanner implements View {
  /** The part of the text that is kept. `#base` is its position in the whole text. */
  text = '';
  final = false;
  #base = 0;
  #given = 0;
  /** The end of the last replacement. */
  #replacedTo = 0;
  #candidates: Candidate[] = [];
  #spans: Span[] = [];
  /** Secrets that reach the end of the text read so far. */
  #open: { span: Span; members: CharClass }[] = [];
  #mark = Number.NEGATIVE_INFINITY;
  readonly #readers: readonly ReturnType<Finder['reader']>[];
  readonly #runs = new Map<CharClass, CachedRun>();
  /** The position up to which each rule has been applied. */
  readonly #done = new Map<Rule, number>();

  constructor(finders: readonly Finder[]) {
    this.#readers = finders.map((finder) => finder.reader());
  }

  push(chunk: string): string {
    if (chunk === '') return '';
    this.text = this.text === '' ? chunk : this.text + chunk;
    return this.#scan(chunk);
  }

  end(): string {
    this.final = true;
    return this.#scan('');
  }

  runEnd(members: CharClass, at: number): number {
    const cached = this.#runs.get(members);
    const from = this.#base + at;
    const goesOn = cached !== undefined && cached.from <= from && from <= cached.to;
    let end = goesOn ? cached.to - this.#base : at;
    while (end < this.text.length && isMember(members, this.text.charCodeAt(end))) end += 1;
    this.#runs.set(members, { from: goesOn ? cached.from : from, to: this.#base + end });
    return end;
  }

  #scan(chunk: string): string {
    if (this.#open.length > 0) this.#extendOpen(chunk);
    this.#find(chunk);
    const decided = this.#decide();
    const mayBegin = (rule: Rule, from: number) => rule.begins?.(this.text, from - this.#base) ?? true;
    const limit = this.final
      ? decided
      : this.#readers.reduce((least, { held }) => Math.min(least, held(mayBegin)), decided);
    const out = this.#give(Math.max(this.#given, limit));
    this.#forget();
    return out;
  }

  /** Extends secrets that reached the end of the last chunk. */
  #extendOpen(chunk: string): void {
    const start = this.text.length - chunk.length;
    this.#open = this.#open.filter(({ span, members }) => {
      const end = this.runEnd(members, start);
      span.to = this.#base + end;
      // Its replacement was already emitted.
      if (span.from < this.#given) {
        this.#given = Math.max(this.#given, span.to);
        this.#replacedTo = this.#given;
      }
      return end === this.text.length;
    });
  }

  #find(chunk: string): void {
    const start = this.#base + this.text.length - chunk.length;
    const hit = (rule: Rule, at: number, end: number): void => {
      if (rule.mark) this.#mark = at;
      else if (rule.begins?.(this.text, at - this.#base) !== false)
        this.#candidates.push({ rule, at, end, since_mark: at - this.#mark });
    };
    for (const reader of this.#readers) reader.read(chunk, start, hit);
  }

  /** Decides as many candidates as possible. Returns the position up to which everything is decided. */
  #decide(): number {
    let limit = this.#base + this.text.length;
    const undecided: Candidate[] = [];
    // A rule decides its candidates in order: the one that waits for more text may turn out to contain those after it.
    const waiting = new Set<Rule>();
    for (const candidate of this.#candidates) {
      const { rule, at, end, since_mark } = candidate;
      if (at < (this.#done.get(rule) ?? 0)) continue;
      const verdict = rule.match(this, at - this.#base, end - this.#base, since_mark);
      if (verdict === null) continue;
      if ('to' in verdict && !waiting.has(rule)) {
        this.#take(rule, verdict);
        continue;
      }
      waiting.add(rule);
      undecided.push(candidate);
      limit = Math.min(limit, this.#base + ('to' in verdict ? verdict.from : verdict.hold));
    }
    this.#candidates = undecided;
    return limit;
  }

  #take(rule: Rule, { from, to, rest }: Extract<Verdict, { to: number }>): void {
    const span = { from: this.#base + from, to: this.#base + to };
    this.#spans.push(span);
    this.#done.set(rule, Math.max(this.#done.get(rule) ?? 0, span.to));
    if (rest && !this.final && to === this.text.length) this.#open.push({ span, members: rest });
  }

  /** Returns the text up to `limit`, with secrets replaced. */
  #give(limit: number): string {
    let out = '';
    this.#spans.sort((a, b) => a.from - b.from || a.to - b.to);
    const later: Span[] = [];
    for (const span of this.#spans) {
      if (span.from >= limit) {
        later.push(span);
        continue;
      }
      if (span.from >= this.#given) out += this.#slice(this.#given, span.from) + REPLACEMENT;
      // Its beginning was too short to be held back and was already emitted.
      else if (span.from >= this.#replacedTo && span.to > this.#given) out += REPLACEMENT;
      this.#given = Math.max(this.#given, span.to);
      this.#replacedTo = Math.max(this.#replacedTo, span.to);
    }
    this.#spans = later;
    if (this.#given < limit) {
      out += this.#slice(this.#given, limit);
      this.#given = limit;
    }
    return out;
  }

  #slice(from: number, to: number): string {
    return this.text.slice(from - this.#base, to - this.#base);
  }

  #forget(): void {
    const needed = this.#candidates.reduce((least, { at }) => Math.min(least, at), this.#given);
    const keep = Math.max(0, Math.min(needed, this.#given) - this.#base - LOOK_BEHIND);
    if (keep === 0) return;
    this.text = this.text.slice(keep);
    this.#base += keep;
  }
}

export const createScanner = (finders: readonly Finder[]): Scanner => {
  const scanner = new TextScanner(finders);
  return { push: (chunk) => scanner.push(chunk), end: () => scanner.end() };
};
