import type { Json, JsonObject } from '@capstan/contracts';

/** Reading bodies that others wrote: what is not there, or not of its kind, is absent rather than an error. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const at = (value: Json | undefined, key: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

export const objects = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

export const idOf = (value: Json | undefined): string | number | null =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? value : null;
