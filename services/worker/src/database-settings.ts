import { readFileSync } from 'node:fs';
import { type DbConnection, dbConnections } from '@capstan/runners';
import { z } from 'zod';

const Document = z.record(z.string(), z.string());

/** The databases that tools may ask: from the environment, and from a file of JSON. */
export const databaseSettings = (env: NodeJS.ProcessEnv): DbConnection[] => {
  const path = env.CAPSTAN_DB_FILE;
  return dbConnections(env, path === undefined || path === '' ? {} : readConnections(path));
};

const readConnections = (path: string): Record<string, string> => {
  const read = Document.safeParse(parse(readFileSync(path, 'utf8')));
  // What is wrong with it is not quoted: the URLs hold passwords.
  if (!read.success) throw new Error(`CAPSTAN_DB_FILE: ${path} is not a JSON object of names and URLs`);
  return read.data;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
