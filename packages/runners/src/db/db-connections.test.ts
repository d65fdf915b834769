import { describe, expect, test } from 'vitest';
import { dbConnections } from './db-connections.js';
import { useSqliteFile, useTestDb } from './testing/use-test-db.js';

const file = useSqliteFile();
const { ask } = useTestDb({
  CAPSTAN_DB_MAIN: 'postgres://127.0.0.1:1/main',
  CAPSTAN_DB_SHOP: `sqlite:${file}`,
  CAPSTAN_DB_ACME__OWN: `sqlite:${file}`,
  CAPSTAN_DB_GONE: 'postgres://somebody:hunter2-hunter2@127.0.0.1:1/nowhere',
  CAPSTAN_DB_FILE: '/not/a/connection',
});

describe('connections', () => {
  test('an unknown one is refused with the known names, and without URLs', async () => {
    const outcome = await ask({ connection: 'nope', sql: 'SELECT 1' });
    expect(outcome).toMatchObject({
      kind: 'INVALID_INPUTS',
      error: 'there is no connection nope: known are gone, main, shop',
    });
  });

  test('belong to one tenant', async () => {
    expect(await ask({ connection: 'main', sql: 'SELECT 1' }, { tenant: 'acme' })).toMatchObject({
      error: 'there is no connection main: known are own',
    });
    expect(await ask({ connection: 'own', sql: 'SELECT 1 AS one' }, { tenant: 'acme' })).toMatchObject({
      success: true,
    });
    expect(await ask({ connection: 'own', sql: 'SELECT 1' })).toMatchObject({ success: false });
  });

  test('an invalid URL stops the start, and is not quoted', () => {
    expect(() => dbConnections({ CAPSTAN_DB_X: 'mysql://root:hunter2@h/' })).toThrow(
      'CAPSTAN_DB_X: not a postgres:// or sqlite: URL',
    );
  });
});
