import type { Json } from '@capstan/contracts';
import pg from 'pg';
import { exact, toJson } from './row-values.js';

const NAMES: Record<number, string> = {
  16: 'boolean',
  17: 'bytea',
  20: 'bigint',
  21: 'smallint',
  23: 'integer',
  25: 'text',
  114: 'json',
  700: 'real',
  701: 'double precision',
  1042: 'char',
  1043: 'varchar',
  1082: 'date',
  1083: 'time',
  1114: 'timestamp',
  1184: 'timestamptz',
  1186: 'interval',
  1700: 'numeric',
  2950: 'uuid',
  3802: 'jsonb',
};

export const typeName = (oid: number): string => NAMES[oid] ?? `oid ${oid}`;

/** Parses text as Postgres sends it with `DateStyle` ISO and `TimeZone` UTC. */
export const parseValue = (oid: number, text: string): Json => {
  switch (oid) {
    case 20:
      return exact(BigInt(text));
    case 1114:
      return text.replace(' ', 'T');
    case 1184:
      return text.replace(' ', 'T').replace(/\+00$/, 'Z');
    // As text, to keep its exact value.
    case 1700:
    case 1082:
    case 1083:
    case 1186:
      return text;
    default:
      return toJson(pg.types.getTypeParser(oid)(text));
  }
};
