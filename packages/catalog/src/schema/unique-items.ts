import type { Json } from '@capstan/contracts';
import { canonicalJson } from '@capstan/integrity';

/** By their canonical text, so that a long list takes linear time; comparing each with each is for a caller to abuse. */
export const areUnique = (items: Json[]): boolean =>
  new Set(items.map((item) => canonicalJson(item))).size === items.length;
