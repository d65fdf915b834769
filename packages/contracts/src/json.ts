import { z } from 'zod';
import { isObject } from './is-object.js';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** Checks only that it is an object: values come from JSON.parse, so the members need no check. */
export const JsonObject = z.custom<JsonObject>((value) => isObject(value), 'expected an object');

/** Converts a value as sending it as JSON would: undefined members are dropped, and `toJSON` is applied. */
export const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? 'null');
export const toJsonObject = (value: object): JsonObject => JSON.parse(JSON.stringify(value));
