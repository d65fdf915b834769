import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { openTestStore } from '../testing/open-test-store.js';
import { endOne } from '../testing/run-one.js';
import { deleteOldSessions } from './delete-old-sessions.js';
import { getSession } from './get-session.js';
import { listSessionFiles, readSessionFile, statSessionFile, textsOfSession } from './read-session-files.js';
import { removeSessionFile } from './remove-session-file.js';
import { clearNotes, readNotes, writeNote } from './scratchpad.js';
import { DEFAULT_SESSION_QUOTA } from './session-scope.js';
import { writeSessionFile } from './write-session-file.js';

const store = await openTestStore();
const { db } = store;
let sessions = 0;
const newScope = () => ({ tenant: 'acme', session_id: `ses_${++sessions}` });
type Scope = ReturnType<typeof newScope>;
const put = (scope: Scope, path: string, content: string | Buffer = 'x', quota = DEFAULT_SESSION_QUOTA, more = {}) =>
  writeSessionFile(store, scope, { path, content: Buffer.from(content), encoding: 'text', ...more }, quota);
const names = async (scope: Scope, path: string) =>
  (await listSessionFiles(db, scope, path, { limit: 100 }))?.map((file) => file.path) ?? null;
const held = async (scope: Scope) => {
  const row = await db.selectFrom('sessions').selectAll().where('session_id', '=', scope.session_id).executeTakeFirst();
  return { files: row?.files, size_bytes: Number(row?.size_bytes) };
};

describe('a file of a session', () => {
  test('is written with its parent folders, and replaced', async () => {
    const scope = newScope();
    expect(await put(scope, '/a/b/c.txt', 'one')).toEqual({ kind: 'written', created: true });
    expect(await put(scope, '/a/b/c.txt', 'other')).toEqual({ kind: 'written', created: false });
    expect(await names(scope, '/')).toEqual(['/a']);
    expect(await names(scope, '/a')).toEqual(['/a/b']);
    expect(await names(scope, '/a/b')).toEqual(['/a/b/c.txt']);
    expect(await names(scope, '/a/b/c.txt')).toBeNull();
    expect(await names(scope, '/nowhere')).toBeNull();
    expect(await statSessionFile(db, scope, '/a')).toMatchObject({ is_directory: true, name: 'a' });
    expect(await statSessionFile(db, scope, '/')).toMatchObject({ is_directory: true, name: '' });
    expect(await held(scope)).toEqual({ files: 3, size_bytes: 5 });
  });

  test('keeps its bytes', async () => {
    const scope = newScope();
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at));
    await put(scope, '/bytes', bytes);
    expect(Buffer.from((await readSessionFile(db, scope, '/bytes'))?.content ?? [])).toEqual(bytes);
    await put(scope, '/empty', '');
    expect(await readSessionFile(db, scope, '/empty')).toMatchObject({ size_bytes: 0, is_directory: false });
  });

  test('cannot be a folder, and a folder cannot be a file', async () => {
    const scope = newScope();
    await put(scope, '/f');
    await put(scope, '/d/f');
    expect(await put(scope, '/f/below')).toEqual({ kind: 'refused', why: 'not_a_directory' });
    expect(await put(scope, '/d')).toEqual({ kind: 'refused', why: 'is_a_directory' });
    expect(await put(scope, '/')).toEqual({ kind: 'refused', why: 'is_a_directory' });
  });

  test('that is read-only is neither replaced nor deleted by a tool', async () => {
    const scope = newScope();
    await put(scope, '/d/f', 'given', DEFAULT_SESSION_QUOTA, { is_readonly: true });
    expect(await put(scope, '/d/f')).toEqual({ kind: 'refused', why: 'readonly' });
    expect(await removeSessionFile(store, scope, '/d', { recursive: true })).toEqual({
      kind: 'refused',
      why: 'readonly',
    });
    expect(await put(scope, '/d/f', 'new', DEFAULT_SESSION_QUOTA, { over_readonly: true })).toMatchObject({
      kind: 'written',
    });
  });

  test('is deleted; a folder with its contents, and nothing beside it', async () => {
    const scope = newScope();
    for (const path of ['/a/1', '/a/b/2', '/a!', '/a-b/3', '/a0']) await put(scope, path);
    expect(await removeSessionFile(store, scope, '/a', { recursive: false })).toEqual({
      kind: 'refused',
      why: 'not_empty',
    });
    expect(await removeSessionFile(store, scope, '/x', { recursive: true })).toEqual({
      kind: 'refused',
      why: 'absent',
    });
    expect(await removeSessionFile(store, scope, '/a', { recursive: true })).toEqual({ kind: 'removed', count: 4 });
    expect(await names(scope, '/')).toEqual(['/a!', '/a-b', '/a0']);
    expect(await removeSessionFile(store, scope, '/', { recursive: true })).toEqual({ kind: 'removed', count: 4 });
    expect(await held(scope)).toEqual({ files: 0, size_bytes: 0 });
  });

  test('is refused beyond the quota, even with concurrent writers', async () => {
    const scope = newScope();
    const quota = { ...DEFAULT_SESSION_QUOTA, max_file_bytes: 10, max_session_bytes: 50, max_files: 8 };
    expect(await put(scope, '/big', 'x'.repeat(11), quota)).toEqual({ kind: 'full', limit: 'file', max: 10 });
    const written = await Promise.all(
      Array.from({ length: 20 }, (_, at) => put(scope, `/${at}`, 'x'.repeat(10), quota)),
    );
    expect(written.filter(({ kind }) => kind === 'written')).toHaveLength(5);
    expect(await held(scope)).toEqual({ files: 5, size_bytes: 50 });
    expect(await put(scope, '/a/b/c/d', '', quota)).toEqual({ kind: 'full', limit: 'count', max: 8 });
  });

  test('is searched if it is text, in batches', async () => {
    const scope = newScope();
    for (let at = 0; at < 5; at++) await put(scope, `/t${at}`, `${at}`);
    await writeSessionFile(store, scope, { path: '/b', content: Buffer.from('b'), encoding: 'base64' });
    const texts: string[] = [];
    for await (const { content } of textsOfSession(db, scope)) texts.push(Buffer.from(content).toString());
    expect(texts).toEqual(['0', '1', '2', '3', '4']);
  });

  test('is invisible to other sessions', async () => {
    const scope = newScope();
    await put(scope, '/f', 'ours');
    await writeNote(store, scope, { section: 's', content: 'ours', mode: 'replace' });
    for (const other of [{ ...scope, tenant: 'globex' }, newScope()]) {
      expect(await readSessionFile(db, other, '/f')).toBeNull();
      expect(await statSessionFile(db, other, '/f')).toBeNull();
      expect(await names(other, '/')).toEqual([]);
      expect(await readNotes(db, other, null)).toEqual([]);
      expect(await clearNotes(db, other, null)).toBe(0);
      expect(await removeSessionFile(store, other, '/f', { recursive: true })).toEqual({
        kind: 'refused',
        why: 'absent',
      });
    }
    expect(await readSessionFile(db, scope, '/f')).toMatchObject({ size_bytes: 4 });
  });
});

describe('a scratchpad', () => {
  test('keeps sections in their order, replaces and appends', async () => {
    const scope = newScope();
    const write = (section: string, content: string, mode: 'replace' | 'append') =>
      writeNote(store, scope, { section, content, mode });
    await write('b', 'one', 'replace');
    await write('a', 'x\u0000y', 'append');
    expect(await write('b', ' two', 'append')).toEqual({ kind: 'written', size_bytes: 7 });
    expect((await readNotes(db, scope, null)).map(({ section, content }) => [section, content])).toEqual([
      ['b', 'one two'],
      ['a', 'x\u0000y'],
    ]);
    expect(await clearNotes(db, scope, 'b')).toBe(1);
    expect(await readNotes(db, scope, 'b')).toEqual([]);
  });

  test('is full at its quota', async () => {
    const scope = newScope();
    const quota = { ...DEFAULT_SESSION_QUOTA, max_section_bytes: 5, max_notes_bytes: 8 };
    const write = (section: string, content: string) =>
      writeNote(store, scope, { section, content, mode: 'append' }, quota);
    await write('a', '12345');
    expect(await write('a', '6')).toEqual({ kind: 'full', limit: 'section', max: 5 });
    expect(await write('b', '1234')).toEqual({ kind: 'full', limit: 'session', max: 8 });
  });
});

describe('a session', () => {
  test('is created by its first use: an invocation, or a file', async () => {
    const scope = newScope();
    expect(await getSession(db, scope)).toBeNull();
    await endOne(store, 'succeeded', { session_id: scope.session_id });
    expect(await getSession(db, scope)).toMatchObject({ invocations: 1, files: 0, size_bytes: 0, notes: 0 });
    await put(scope, '/a/b', 'abc');
    expect(await getSession(db, scope)).toMatchObject({ session_id: scope.session_id, files: 2, size_bytes: 3 });
    expect(await getSession(db, { ...scope, tenant: 'globex' })).toBeNull();
  });

  test('that was not used for long is deleted with its contents', async () => {
    const [old, alive] = [newScope(), newScope()];
    for (const scope of [old, alive]) await put(scope, '/f');
    await endOne(store, 'succeeded', { session_id: alive.session_id });
    await db
      .updateTable('sessions')
      .set({ used_at: sql<string>`now() - interval '2 days'` })
      .where('session_id', 'in', [old.session_id, alive.session_id])
      .execute();
    expect(await deleteOldSessions(store, 86_400_000)).toBe(1);
    expect(await readSessionFile(db, old, '/f')).toBeNull();
    expect(await readSessionFile(db, alive, '/f')).not.toBeNull();
  });
});
