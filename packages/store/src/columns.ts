import type { ColumnType, Generated } from 'kysely';

/** Timestamps leave Postgres as RFC 3339 text (see open-store.ts), and are set by Postgres' clock. */
export type Timestamp = Generated<string>;
export type NullableTimestamp = Generated<string | null>;

/** JSON is written as text, so that it is kept as it was sent. */
export type JsonText<T> = ColumnType<T, string, string>;
export type NullableJsonText<T> = ColumnType<T | null, string | null, string | null>;
