import type { Json } from '@capstan/contracts';
import pg from 'pg';
import type { ToolFailure } from '../runner.js';
import type { DbConnection } from './db-connections.js';
import { SqliteError } from './sqlite-query.js';

/** Classes of SQLSTATE after which the same query may succeed: connection lost, conflict, shortage, shutdown. */
const RETRYABLE = /^(?:08|40|53|55|57P)/;
/** Those of them that say that nothing was changed. A connection that is lost at a COMMIT leaves that open. */
const ROLLED_BACK = /^(?:40(?!003)|53|55)/;

/**
 * What the database said, and never where it is: an address may hold a password. `written`: the statement may write, and
 * was sent.
 */
export const dbFailure = ({ name, kind }: DbConnection, error: unknown, written: boolean): ToolFailure => {
  if (error instanceof pg.DatabaseError) return postgresFailure(name, error, written ? ROLLED_BACK : RETRYABLE);
  if (error instanceof SqliteError)
    return {
      success: false,
      error: `${name}: ${error.message}`,
      kind: 'TOOL_ERROR',
      retryable: /locked|busy/i.test(error.message),
    };
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return { success: false, error: `${name}: the query took too long`, kind: 'TOOL_TIMEOUT', retryable: false };
  if (written)
    return {
      success: false,
      error: `the connection ${name} was lost; whether the statement took effect is not known`,
      kind: 'TOOL_ERROR',
      retryable: false,
    };
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  const why = typeof code === 'string' ? code : kind === 'postgres' ? 'no answer in time' : 'unknown';
  return {
    success: false,
    error: `the connection ${name} cannot be reached (${why})`,
    kind: 'TOOL_ERROR',
    retryable: true,
  };
};

const postgresFailure = (name: string, error: pg.DatabaseError, retryable: RegExp): ToolFailure => {
  const { code = '', message, detail, hint, position, severity } = error;
  // 57014: canceled, by the time limit unless somebody canceled the call.
  if (code === '57014') return { success: false, error: `${name}: ${message}`, kind: 'TOOL_TIMEOUT', retryable: false };
  const said: Record<string, Json> = {
    sqlstate: code,
    severity: severity ?? null,
    detail: detail ?? null,
    hint: hint ?? null,
  };
  return {
    success: false,
    error: `${name}: ${message}`,
    kind: code === '25006' ? 'POLICY_DENIED' : 'TOOL_ERROR',
    retryable: retryable.test(code),
    payload: { ...said, position: position === undefined ? null : Number(position) },
  };
};
