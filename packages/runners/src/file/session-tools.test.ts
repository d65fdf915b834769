import type { FileEncoding, JsonObject, SessionFile } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import type { SessionFiles, SessionPort } from '../session-port.js';
import { testCall, testDescriptor } from '../testing/test-call.js';
import { createFileRunner } from './create-file-runner.js';

type Kept = { content: Buffer; encoding: FileEncoding };

const text = (content: string): Kept => ({ content: Buffer.from(content), encoding: 'text' });

/** Files in memory, enough to see what the tools ask for; the real ones have tests of their own. */
function memory(kept: Record<string, Kept> = {}): SessionPort {
  const files = new Map(Object.entries(kept));
  const about = (path: string): SessionFile => ({
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    is_directory: !files.has(path),
    is_readonly: false,
    size_bytes: files.get(path)?.content.length ?? 0,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  });
  const port: SessionFiles = {
    stat: async (path) => (files.has(path) ? about(path) : null),
    read: async (path) => {
      const file = files.get(path);
      return file ? { ...about(path), ...file } : null;
    },
    write: async (path, content, encoding) => {
      const created = !files.has(path);
      files.set(path, { content: Buffer.from(content), encoding });
      return { kind: 'written', created };
    },
    list: async (path) => [...files.keys()].filter((one) => one.startsWith(path)).map(about),
    texts: async function* () {
      for (const [path, { content, encoding }] of files) if (encoding === 'text') yield { path, content };
    },
    remove: async (path) => (files.delete(path) ? { kind: 'removed', count: 1 } : { kind: 'refused', why: 'absent' }),
  };
  const notes = { write: () => Promise.reject(), read: async () => [], clear: async () => 0 };
  return { files: port, notes };
}

const run = (
  session: SessionPort | null,
  tool: string,
  inputs: JsonObject,
  max_output_bytes = 1000,
  signal?: AbortSignal,
) =>
  createFileRunner({ workspace: '/nowhere' }).run(
    testCall(testDescriptor({ tool_id: `cap:session_file_system:${tool}`, runner: 'file' }), {
      session,
      inputs,
      limits: { timeout_ms: 1000, max_output_bytes },
      ...(signal ? { signal } : {}),
    }),
  );

describe('the tools of a session’s files', () => {
  test('write and read back text and bytes', async () => {
    const session = memory();
    expect(await run(session, 'write_file', { path: 'docs//a.txt', content: '\ufeffä\u0000' })).toMatchObject({
      payload: { path: '/docs/a.txt', size_bytes: 6, created: true },
      facts: { observed: { files_written: ['session:/docs/a.txt'] } },
    });
    expect(await run(session, 'read_file', { path: '/docs/a.txt' })).toMatchObject({
      payload: { content: '\ufeffä\u0000', encoding: 'text', size_bytes: 6 },
      truncated: false,
    });
    await run(session, 'write_file', { path: '/b', content: '/wD+', encoding: 'base64' });
    expect(await run(session, 'read_file', { path: '/b' })).toMatchObject({
      payload: { content: '/wD+', encoding: 'base64', size_bytes: 3 },
    });
  });

  test('require a session, and report that', async () => {
    for (const tool of ['read_file', 'grep_files'])
      expect(await run(null, tool, { path: '/a', pattern: 'x' })).toMatchObject({
        success: false,
        error: expect.stringContaining('session_id'),
      });
  });

  test.each(['../a', '/a/../../b', 'a\u0000b', '\ud800', `/${'x'.repeat(300)}`, `/${'x/'.repeat(1000)}`])(
    'refuse the path %j',
    async (path) => {
      expect(await run(memory(), 'write_file', { path, content: '' })).toMatchObject({
        success: false,
        kind: 'INVALID_INPUTS',
      });
    },
  );

  test.each(['a===', 'a', '!!!!', 'ab=c'])('refuse %j as base64', async (content) => {
    expect(await run(memory(), 'write_file', { path: '/a', content, encoding: 'base64' })).toMatchObject({
      kind: 'INVALID_INPUTS',
    });
  });

  test('truncate long content between characters, and base64 between groups', async () => {
    const session = memory({
      '/text': { content: Buffer.from('ab€€'), encoding: 'text' },
      '/bytes': { content: Buffer.from([1, 2, 3, 4, 5, 6]), encoding: 'base64' },
    });
    expect(await run(session, 'read_file', { path: '/text' }, 6)).toMatchObject({
      payload: { content: 'ab€' },
      truncated: true,
    });
    expect(await run(session, 'read_file', { path: '/bytes' }, 6)).toMatchObject({
      payload: { content: 'AQID' },
      truncated: true,
    });
  });

  test('redact secrets in base64 too', async () => {
    const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    const session = memory({ '/packed': { content: Buffer.from(`it is ${token}`), encoding: 'base64' } });
    const content = Buffer.from('it is [REDACTED]').toString('base64');
    expect(await run(session, 'read_file', { path: '/packed' })).toMatchObject({ payload: { content } });
  });

  test('search line by line, in the selected files', async () => {
    const session = memory({
      '/docs/a.txt': text('one\r\ntwo words\nthree'),
      '/docs/b.md': text('two'),
      '/c.bin': { content: Buffer.from('two'), encoding: 'base64' },
    });
    expect(await run(session, 'grep_files', { pattern: '^two' })).toMatchObject({
      payload: {
        match_count: 2,
        matches: [
          { path: '/docs/a.txt', line_number: 2, line: 'two words' },
          { path: '/docs/b.md', line_number: 1, line: 'two' },
        ],
      },
    });
    const paths = async (path_pattern: string) => {
      const outcome = await run(session, 'grep_files', { pattern: 't', path_pattern });
      return (
        JSON.stringify(outcome)
          .match(/\/docs\/\w\.\w+/g)
          ?.sort() ?? []
      );
    };
    expect(new Set(await paths('*.md'))).toEqual(new Set(['/docs/b.md']));
    expect(new Set(await paths('/docs/**'))).toEqual(new Set(['/docs/a.txt', '/docs/b.md']));
    expect(await run(session, 'grep_files', { pattern: '(' })).toMatchObject({ kind: 'INVALID_INPUTS' });
    expect(await run(session, 'grep_files', { pattern: '((a{100}){100}){100}' })).toMatchObject({
      kind: 'INVALID_INPUTS',
    });
  });

  test('search long lines correctly', async () => {
    for (const length of [12_285, 16_380, 28_670, 32_765, 100_000]) {
      const session = memory({ '/a': text(`${'.'.repeat(length)}needle${'.'.repeat(20_000)}`) });
      expect(await run(session, 'grep_files', { pattern: 'needle' })).toMatchObject({ payload: { match_count: 1 } });
      expect(await run(session, 'grep_files', { pattern: 'noodle' })).toMatchObject({ payload: { match_count: 0 } });
    }
  });

  test('redact a secret at the end of a truncated line', async () => {
    const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    for (const more of ['', ' and so on', ' '.repeat(40_000)]) {
      const session = memory({ '/a': text(`${'.'.repeat(470)} ${token}${more}`) });
      const outcome = await run(session, 'grep_files', { pattern: 'ghp_' });
      expect(outcome).toMatchObject({
        payload: { matches: [{ line: expect.stringMatching(/^\.{470} \[REDACTED\]/) }] },
      });
      expect(JSON.stringify(outcome)).not.toContain('a1B2');
    }
  });

  test('keep the answer within the limit, and report that it was truncated', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `/ä${index}`);
    const session = memory(Object.fromEntries(names.map((name) => [name, text('one "line"\n')])));
    for (const [tool, inputs] of [
      ['grep_files', { pattern: 'line' }],
      ['list_directory', { path: '/' }],
    ] as const) {
      const cut = await run(session, tool, inputs, 2000);
      expect(cut).toMatchObject({ success: true, truncated: true });
      const bytes = Buffer.byteLength(JSON.stringify(cut.payload));
      expect(bytes).toBeLessThanOrEqual(2000);
      expect(bytes).toBeGreaterThan(1800);
      expect(await run(session, tool, inputs, 100_000)).toMatchObject({ truncated: false });
    }
  });

  test('search patterns that would block a backtracking engine, and stop when aborted', async () => {
    const session = memory({ '/a': { content: Buffer.from(`${'a'.repeat(100_000)}!`), encoding: 'text' } });
    expect(await run(session, 'grep_files', { pattern: '^(a+)+$' })).toMatchObject({ success: true });
    const lines = memory({ '/a': { content: Buffer.from('aaaaaaaaaaaaaaa\n'.repeat(500_000)), encoding: 'text' } });
    const stop = new AbortController();
    const searching = run(lines, 'grep_files', { pattern: '(a|b|c)*x' }, 1000, stop.signal);
    stop.abort();
    await expect(searching).rejects.toThrow('abort');
  });

  test('delete and stat existing files, and report missing ones', async () => {
    const session = memory({ '/a': { content: Buffer.from('x'), encoding: 'text' } });
    expect(await run(session, 'stat_file', { path: '/a' })).toMatchObject({
      payload: { exists: true, size_bytes: 1, name: 'a' },
    });
    expect(await run(session, 'delete_file', { path: '/a' })).toMatchObject({ payload: { deleted: true } });
    expect(await run(session, 'delete_file', { path: '/a' })).toMatchObject({ payload: { deleted: false } });
    expect(await run(session, 'stat_file', { path: '/a' })).toMatchObject({ payload: { exists: false } });
    expect(await run(session, 'read_file', { path: '/a' })).toMatchObject({ success: false, kind: 'TOOL_ERROR' });
  });
});
