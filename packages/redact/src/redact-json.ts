import type { Json } from '@capstan/contracts';
import { REPLACEMENT } from './scanner.js';

/** Real data is never nested this deep. Deeper values are replaced, because nothing may pass unscanned. */
const MAX_DEPTH = 1000;

export type JsonRedaction = {
  text(text: string): string;
  /** True if a key may contain a secret, or show that its value is one. */
  suspects(key: string): boolean;
  /** Redacts a value together with its key. */
  named(key: string, value: string): string;
};

/** Returns `value` itself if nothing changes, which is the usual case. */
export const redactJson = (value: Json, redact: JsonRedaction, depth = 0): Json => {
  if (typeof value === 'string') return redact.text(value);
  if (typeof value === 'number') return redactNumber(value, redact);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return REPLACEMENT;
  return Array.isArray(value) ? redactArray(value, redact, depth) : redactObject(value, redact, depth);
};

/** A secret of digits may appear as a number. */
const redactNumber = (value: number, redact: JsonRedaction): Json => {
  if (Math.abs(value) < 1000) return value;
  const text = String(value);
  const redacted = redact.text(text);
  return redacted === text ? value : redacted;
};

const redactArray = (items: Json[], redact: JsonRedaction, depth: number): Json => {
  let copy: Json[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index] ?? null;
    const redacted = redactJson(item, redact, depth + 1);
    if (redacted === item) continue;
    copy ??= items.slice();
    copy[index] = redacted;
  }
  return copy ?? items;
};

const redactObject = (object: { [key: string]: Json }, redact: JsonRedaction, depth: number): Json => {
  let changed: Map<string, [key: string, value: Json]> | undefined;
  const keys = Object.keys(object);
  for (const key of keys) {
    const value = object[key] ?? null;
    const suspect = redact.suspects(key);
    const redacted =
      suspect && typeof value === 'string' ? redact.named(key, value) : redactJson(value, redact, depth + 1);
    const redactedKey = suspect ? redact.text(key) : key;
    if (redacted === value && redactedKey === key) continue;
    changed ??= new Map();
    changed.set(key, [redactedKey, redacted]);
  }
  if (!changed) return object;
  const entries = keys.map((key): [string, Json] => changed.get(key) ?? [key, object[key] ?? null]);
  // Object.fromEntries defines properties, so a key named __proto__ is safe.
  return Object.fromEntries(withDistinctKeys(entries));
};

/** Keeps keys apart that are redacted to the same text. */
const withDistinctKeys = (entries: [string, Json][]): [string, Json][] => {
  const taken = new Set<string>();
  return entries.map(([key, value]) => {
    let distinct = key;
    for (let count = 2; taken.has(distinct); count += 1) distinct = `${key} ${count}`;
    taken.add(distinct);
    return [distinct, value];
  });
};
