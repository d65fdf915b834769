import { isObject, type Json, type JsonObject } from '@capstan/contracts';

export const at = (value: Json | undefined, key: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

export const objects = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

export const idOf = (value: Json | undefined): string | number | null =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? value : null;
