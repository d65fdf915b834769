import type { Json } from '@capstan/contracts';
import { canonicalJson } from '@capstan/integrity';

/** Compares canonical texts, which takes linear time. Callers could abuse a pairwise comparison. */
export const areUnique = (items: Json[]): boolean =>
  new Set(items.map((item) => canonicalJson(item))).size === items.length;
