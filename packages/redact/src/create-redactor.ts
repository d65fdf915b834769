import type { Json } from '@capstan/contracts';
import { knownForms } from './known-forms.js';
import { redactJson } from './redact-json.js';
import { createRuleSet } from './rule-set.js';
import { RULES, type Rule } from './rules.js';
import { createScanner, type Scanner } from './scanner.js';

/** Takes secrets out of what a tool says. It goes first: before cutting, hashing, storing, publishing and logging. */
export type Redactor = {
  text(text: string): string;
  /** Strings and keys, at any depth. The same object when nothing changed. */
  json(value: Json): Json;
  /** For text that comes in chunks: what `push` and `end` give adds up to `text` of the whole. */
  stream(): RedactorStream;
};

export type RedactorStream = Scanner;

/** A shorter value would blacken every other word, and guard little. */
const MIN_VALUE_LENGTH = 4;
/** No shape is shorter. */
const MIN_SHAPE_LENGTH = 8;

/** Built once, because most calls carry no secret of their own: 0.4 ms that each of them need not spend. */
const SHAPES = createRuleSet(RULES);

/** Redacts `values` in all their forms, and whatever has the shape of a well-known secret. */
export const createRedactor = ({ values }: { values: readonly string[] }): Redactor => {
  const forms = values.filter((value) => value.length >= MIN_VALUE_LENGTH).flatMap(knownForms);
  const known = [...new Set(forms)].map((form): Rule => ({ id: 'known-value', starts: [form], parts: [] }));
  const rules = known.length === 0 ? SHAPES : createRuleSet([...known, ...RULES]);
  const minLength = Math.min(MIN_SHAPE_LENGTH, ...forms.map((form) => form.length));

  const text = (whole: string): string => {
    if (whole.length < minLength) return whole;
    rules.anchor.lastIndex = 0;
    if (!rules.anchor.test(whole)) return whole;
    const scanner = createScanner(rules);
    return scanner.push(whole) + scanner.end();
  };
  return {
    text,
    json: (value) => redactJson(value, text),
    stream: () => createScanner(rules),
  };
};
