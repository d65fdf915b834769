import type { InvocationFilter } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { openTestStore } from '../testing/open-test-store.js';
import { endOne } from '../testing/run-one.js';
import { insertInvocations } from './insert-invocations.js';
import { listInvocations } from './read-invocations.js';

const store = await openTestStore();

describe('a filter', () => {
  const named = {
    plain: newInvocation({ tenant: 'filters' }),
    held: newInvocation({ tenant: 'filters', status: 'held', actor: 'bob' }),
    denied: newInvocation({ tenant: 'filters', status: 'denied', tool_id: 'shell.run' }),
    builtin: newInvocation({ tenant: 'filters', runner: 'builtin', run_id: 'run_bulk' }),
    session: newInvocation({ tenant: 'filters', session_id: 's1', run_id: 'run_bulk' }),
    red: newInvocation({ tenant: 'filters', labels: { team: 'red', 'a:b': 'c:d', empty: '' } }),
    blue: newInvocation({ tenant: 'filters', labels: { team: 'blue' } }),
    old: newInvocation({ tenant: 'filters' }),
    refused: newInvocation({ tenant: 'filters', status: 'denied', session_id: 's2', labels: { kind: 'nightly' } }),
  };
  const names = new Map(Object.entries(named).map(([name, row]) => [row.invocation_id, name]));
  const found = async (filter: InvocationFilter) => {
    const { items } = await listInvocations(store.db, 'filters', filter, { limit: 100 });
    return items.map((item) => names.get(item.invocation_id)).sort();
  };
  const allBut = (...without: string[]) => [...names.values()].filter((name) => !without.includes(name)).sort();

  beforeAll(async () => {
    await insertInvocations(store, Object.values(named));
    await insertInvocations(store, [newInvocation({ tenant: 'another', labels: { team: 'red' } })]);
    const id = named.old.invocation_id;
    await sql`UPDATE invocations SET created_at = '2020-01-01T00:00:00Z' WHERE invocation_id = ${id}`.execute(store.db);
  });

  test.each<[InvocationFilter, string[]]>([
    [{}, allBut()],
    [{ status: ['held'] }, ['held']],
    [{ status: ['held', 'denied'] }, ['denied', 'held', 'refused']],
    [{ status: ['denied'] }, ['denied', 'refused']],
    [{ status: ['denied', 'succeeded'] }, ['denied', 'refused']],
    [{ status: ['failed'] }, []],
    [{ status: ['denied'], tool_id: 'shell.run' }, ['denied']],
    [{ status: ['denied'], session_id: 's2', label: ['kind:nightly'], since: '2021-01-01T00:00:00Z' }, ['refused']],
    [{ status: ['denied'], until: '2021-01-01T00:00:00Z' }, []],
    [{ status: ['denied'], actor: 'bob' }, []],
    [{ status: ['denied'], q: 'SHELL' }, ['denied']],
    [{ status: ['denied'], q: named.refused.invocation_id }, ['refused']],
    [{ q: 'NIGHT' }, ['refused']],
    [{ tool_id: 'shell.run' }, ['denied']],
    [{ tool_id: 'shell' }, []],
    [{ runner: 'builtin' }, ['builtin']],
    [{ run_id: 'run_bulk' }, ['builtin', 'session']],
    [{ session_id: 's1' }, ['session']],
    [{ actor: 'bob' }, ['held']],
    [{ label: ['team'] }, ['blue', 'red']],
    [{ label: ['team:red'] }, ['red']],
    [{ label: ['team=red'] }, ['red']],
    [{ label: ['team:green'] }, []],
    [{ label: ['team', 'empty'] }, ['red']],
    [{ label: ['team:red', 'team:blue'] }, []],
    [{ label: ['empty:'] }, ['red']],
    [{ label: [`x' OR 'a' = 'a`] }, []],
    [{ since: '2021-01-01T00:00:00Z' }, allBut('old')],
    [{ until: '2021-01-01T00:00:00+02:00' }, ['old']],
    [{ since: '2020-01-01T00:00:00Z', until: '2020-01-01T00:00:01Z' }, ['old']],
    [{ since: '2019-01-01T00:00:00Z', until: '2020-01-01T00:00:00Z' }, []],
    [{ status: ['queued'], session_id: 's1', runner: 'exec', label: ['team'] }, []],
  ])('of %o finds the right ones', async (filter, expected) => {
    expect(await found(filter)).toEqual(expected);
  });

  test('of an ended status pages through the calls, newest first', async () => {
    const ended: InvocationFilter = { status: ['denied'] };
    const first = await listInvocations(store.db, 'filters', ended, { limit: 1 });
    const second = await listInvocations(store.db, 'filters', ended, {
      limit: 1,
      cursor: first.next_cursor ?? undefined,
    });
    expect([...first.items, ...second.items].map((item) => names.get(item.invocation_id))).toEqual([
      'refused',
      'denied',
    ]);
    expect(second.next_cursor).toBeNull();
  });

  test('by a lone run finds its invocation', async () => {
    const run_id = named.plain.invocation_id.replace('inv_', 'run_');
    expect(await found({ run_id })).toEqual(['plain']);
    expect(await found({ run_id: named.session.invocation_id.replace('inv_', 'run_') })).toEqual([]);
  });
});

describe('pages', () => {
  const page = (tenant: string, limit: number, cursor?: string) =>
    listInvocations(store.db, tenant, {}, { limit, cursor });

  test.each([1, 3, 10, 11])('of %i cover every row once, newest first', async (limit) => {
    const tenant = `pages${limit}`;
    const rows = manyInvocations(10, { tenant });
    await insertInvocations(store, rows);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { items, next_cursor } = await page(tenant, limit, cursor);
      expect(items.length).toBeLessThanOrEqual(limit);
      seen.push(...items.map((item) => item.invocation_id));
      cursor = next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(rows.map((row) => row.invocation_id).toReversed());
  });

  test('are not shifted by rows that are added meanwhile, nor by rows that end', async () => {
    const rows = manyInvocations(9, { tenant: 'acme' });
    await insertInvocations(store, rows);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { items, next_cursor } = await page('acme', 2, cursor);
      seen.push(...items.map((item) => item.invocation_id));
      cursor = next_cursor ?? undefined;
      await insertInvocations(store, manyInvocations(3, { tenant: 'acme' }));
      await endOne(store, 'succeeded');
    } while (cursor !== undefined);
    expect(seen).toEqual(rows.map((row) => row.invocation_id).toReversed());
  });

  test('without matches have no next page', async () => {
    expect(await page('nobody', 10)).toEqual({ items: [], next_cursor: null });
  });
});
