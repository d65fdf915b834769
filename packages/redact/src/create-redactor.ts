import type { Json } from '@capstan/contracts';
import { createKnownFinder, SHAPES } from './create-finder.js';
import { holdsRow } from './dump-row.js';
import { DumpStage } from './dump-stage.js';
import { holdsJsonRow, JsonDumpStage } from './json-dump-stage.js';
import { compilePatterns, type Patterns } from './patterns.js';
import { redactJson } from './redact-json.js';
import { createScanner, type Finder, type Scanner } from './scanner.js';

/** Removes secrets from tool output. It must run before truncation, hashing, storing, publishing and logging. */
export type Redactor = {
  text(text: string): string;
  /** Redacts strings and keys at any depth, and values whose key shows that they are secret. Returns the same object if unchanged. */
  json(value: Json): Json;
  /** For text in chunks. The outputs of `push` and `end` together equal `text` of the whole. */
  stream(): RedactorStream;
  /** Like `text`, for messages: also replaces the home directory of this process by `~`. */
  error(text: string): string;
  /** Returns a redactor that also knows these values. Costs a fraction of a millisecond. */
  with(values: readonly string[]): Redactor;
};

export type RedactorStream = Scanner;

export type RedactorOptions = {
  /** Known secrets, found in all their forms. */
  values: readonly string[];
  /** Patterns in RE2 syntax, matched within a line. */
  patterns?: readonly string[];
  /** The home directory, which messages should not reveal. */
  home?: string;
};

/** The characters scanned at once. It bounds the number of pending candidates. */
const PIECE = 65_536;
/** A shorter home directory, such as `/`, is part of every path. */
const MIN_HOME = 4;

/** Redacts `values` in all their forms, and everything with the format of a well-known secret. */
export const createRedactor = ({ values, patterns = [], home = '' }: RedactorOptions): Redactor =>
  redactorOf({
    known: withKnown([], values),
    patterns: patterns.length > 0 ? compilePatterns(patterns) : undefined,
    home: home.length >= MIN_HOME ? home.replace(/\/$/, '') : '',
  });

type Parts = { known: readonly Finder[]; patterns: Patterns | undefined; home: string };

const withKnown = (known: readonly Finder[], values: readonly string[]): readonly Finder[] => {
  const finder = createKnownFinder(values);
  return finder ? [...known, finder] : known;
};

const redactorOf = (parts: Parts): Redactor => {
  const { known, patterns, home } = parts;
  const finders = [SHAPES, ...known];
  const mayHoldDump = (text: string): boolean => known.length > 0 && (holdsRow(text) || holdsJsonRow(text));
  const suspects = (text: string): boolean => {
    for (const finder of finders) if (finder.finds(text)) return true;
    return patterns !== undefined || mayHoldDump(text);
  };
  const streamWith = (used: readonly Finder[], dumps: boolean): RedactorStream => {
    const scanner = createScanner(used);
    const rows = dumps ? inSequence(new JsonDumpStage(known), inSequence(new DumpStage(known), scanner)) : scanner;
    return patterns ? inSequence(rows, patterns.stream()) : rows;
  };
  const stream = (): RedactorStream => streamWith(finders, known.length > 0);
  const text = (whole: string): string => {
    // In most texts no finder matches, and in the others rarely more than one.
    const used = finders.filter((finder) => finder.finds(whole));
    const dumps = mayHoldDump(whole);
    if (used.length === 0 && !dumps && patterns === undefined) return whole;
    const { push, end } = streamWith(used, dumps);
    let out = '';
    for (let at = 0; at < whole.length; at += PIECE) out += push(whole.slice(at, at + PIECE));
    return out + end();
  };
  const named = (key: string, value: string): string => {
    const before = `${key}: `;
    const redacted = text(before + value);
    return redacted.startsWith(before) ? redacted.slice(before.length) : text(value);
  };
  return {
    text,
    json: (value) => redactJson(value, { text, suspects, named }),
    stream,
    error: (message) => (home === '' ? text(message) : text(message).replaceAll(`${home}/`, '~/')),
    with: (values) => redactorOf({ ...parts, known: withKnown(known, values) }),
  };
};

const inSequence = (first: Scanner, second: Scanner): Scanner => ({
  push: (chunk) => second.push(first.push(chunk)),
  end: () => second.push(first.end()) + second.end(),
});
