import type { Json } from '@capstan/contracts';
import pg from 'pg';
import type { ToolFailure } from '../runner.js';
import type { DbConnection } from './db-connections.js';
import { SqliteError } from './sqlite-query.js';

/** SQLSTATE classes after which a retry may succeed: connection lost, conflict, out of resources, shutdown. */
const RETRYABLE = /^(?:08|40|53|55|57P)/;
/** Those of them after which nothing was changed. If the connection is lost during COMMIT, that is unknown. */
const ROLLED_BACK = /^(?:40(?!003)|53|55)/;

/** The error message of the database, without its address, which may contain a password. `written`: the statement may write, and was sent. */
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
  // 57014: canceled, by the time limit unless the call was canceled.
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
    kind: code === '25006' ? 'WRITE_NOT_GRANTED' : 'TOOL_ERROR',
    retryable: retryable.test(code),
    payload: { ...said, position: position === undefined ? null : Number(position) },
  };
};
