import pc from 'picocolors';
import { describe, expect, it } from 'vitest';
import { formatCount } from './count.js';
import { formatDuration } from './duration.js';
import { renderPayload } from './payload.js';
import { absoluteTime, relativeTime } from './relative-time.js';
import { statusText } from './status.js';
import { formatTable } from './table.js';

const plain = pc.createColors(false);
const colored = pc.createColors(true);

describe('a duration', () => {
  it.each([
    [0.4, '0ms'],
    [999, '999ms'],
    [1_240, '1.2s'],
    [59_400, '59s'],
    [59_700, '1m'],
    [125_000, '2m 5s'],
    [3_780_000, '1h 3m'],
    [187_200_000, '2d 4h'],
  ])('of %d ms is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('a time', () => {
  const now = new Date('2026-01-31T12:00:00Z');

  it.each([
    ['2026-01-31T12:00:00Z', 'now'],
    ['2026-01-31T11:59:55Z', '5s ago'],
    ['2026-01-31T11:57:00Z', '3m ago'],
    ['2026-01-31T12:03:00Z', 'in 3m'],
    ['2026-01-29T11:00:00Z', '2d ago'],
    ['2025-01-01T00:00:00Z', '2025-01-01'],
    ['nonsense', '-'],
  ])('%s is %s', (time, text) => {
    expect(relativeTime(time, now)).toBe(text);
  });

  it('shows its date only once', () => {
    expect(absoluteTime('2025-01-01T00:00:00Z', now)).toBe('2025-01-01T00:00:00Z');
    expect(absoluteTime('2026-01-31T11:57:00Z', now)).toBe('2026-01-31T11:57:00Z (3m ago)');
  });
});

describe('a number', () => {
  it('has thousands separators', () => {
    expect([0, 999, 1000, 1234567].map(formatCount)).toEqual(['0', '999', '1,000', '1,234,567']);
  });
});

describe('a table', () => {
  type Row = { name: string; size: string };
  const rows: Row[] = [
    { name: 'a', size: '1' },
    { name: 'longer', size: '12,345' },
  ];
  const columns = [
    { title: 'NAME', text: (row: Row) => row.name, shrinks: true as const },
    { title: 'SIZE', text: (row: Row) => row.size, align: 'right' as const },
  ];

  it('is aligned, numbers to the right, without trailing space', () => {
    expect(formatTable(columns, rows, { colors: plain, columns: null })).toEqual([
      'NAME      SIZE',
      'a            1',
      'longer  12,345',
    ]);
  });

  it('is aligned the same with colors', () => {
    const painted = columns.map((column) => ({ ...column, paint: (text: string) => colored.red(text) }));
    const lines = formatTable(painted, rows, { colors: plain, columns: null });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
    const bare = lines.map((line) => line.replace(/\u001b\[\d+m/g, '').trimEnd());
    expect(bare).toEqual(formatTable(columns, rows, { colors: plain, columns: null }));
    expect(lines[1]).toContain('\u001b[31m');
  });

  it('cuts one column to fit a terminal, and nothing in a pipe', () => {
    const long = [{ name: 'x'.repeat(100), size: '1' }];
    expect(formatTable(columns, long, { colors: plain, columns: 40 }).map((line) => line.length)).toEqual([40, 40]);
    expect(formatTable(columns, long, { colors: plain, columns: null })[1]).toContain('x'.repeat(100));
  });

  it('shrinks the widest column first, at its start if the end is more informative', () => {
    const two = [
      { title: 'TOOL', text: (row: Row) => row.name, shrinks: 8, tail: true as const },
      { title: 'WHY', text: (row: Row) => row.size, shrinks: true as const },
    ];
    const long = [{ name: 'cap:test_math:divide', size: 'because '.repeat(10) }];
    expect(formatTable(two, long, { colors: plain, columns: 40 })[1]).toBe('…p:test_math:divide  because because be…');
    expect(formatTable(two, long, { colors: plain, columns: 22 })[1]).toBe('…:divide  because bec…');
  });

  it('drops columns if cutting is not enough, the least important first', () => {
    const three = [
      { title: 'ID', text: (row: Row) => row.name },
      { title: 'BY', text: () => 'somebody', drops: 2 },
      { title: 'STATUS', text: () => 'pending', drops: 1 },
    ];
    const headings = [30, 20, 10].map((width) => formatTable(three, rows, { colors: plain, columns: width })[0]);
    expect(headings).toEqual(['ID      BY        STATUS', 'ID      BY', 'ID']);
    expect(formatTable(three, rows, { colors: plain, columns: null })[0]).toContain('STATUS');
  });

  it('keeps ids whole unless no line may wrap', () => {
    const ids = [{ title: 'ID', text: (row: Row) => row.name }, columns[1]].filter((each) => each !== undefined);
    const long = [{ name: 'x'.repeat(30), size: '1' }];
    expect(formatTable(ids, long, { colors: plain, columns: 20 })[1]).toHaveLength(36);
    const strict = formatTable(ids, long, { colors: plain, columns: 20, strict: true });
    expect(strict).toEqual(['ID', `${'x'.repeat(19)}…`]);
  });

  it('is aligned with wide characters', () => {
    const wide = [{ name: '日本👍', size: '1' }, ...rows];
    expect(formatTable(columns, wide, { colors: plain, columns: null })[1]).toBe('日本👍       1');
  });

  it('escapes control characters in cells', () => {
    const [, line] = formatTable(columns, [{ name: '\u001b[2Jgone\n', size: '1' }], { colors: plain, columns: null });
    expect(line).not.toMatch(/\p{Cc}/u);
  });
});

describe('a status', () => {
  it('has an icon', () => {
    expect([statusText('succeeded'), statusText('failed'), statusText('held')]).toEqual([
      '✓ succeeded',
      '✗ failed',
      '⏸ held',
    ]);
  });
});

describe('a payload', () => {
  it.each([
    ['plain text', 'plain text\n'],
    ['with its end\n', 'with its end\n'],
    [{ result: 5 }, '5\n'],
    [{ result: 'five' }, 'five\n'],
    [{ result: { a: 1 } }, '{\n  "a": 1\n}\n'],
    [{ result: 5, more: 1 }, '{\n  "result": 5,\n  "more": 1\n}\n'],
    [[1], '[\n  1\n]\n'],
    [null, 'null\n'],
    [false, 'false\n'],
  ])('%j is printed plainly', (payload, stdout) => {
    expect(renderPayload(payload)).toMatchObject({ stdout, stderr: '' });
  });

  it('of a process is printed byte for byte, to the same streams', () => {
    expect(renderPayload({ stdout: 'out', stderr: 'err', exit_code: 0 })).toEqual({
      stdout: 'out',
      stderr: 'err',
      raw: true,
    });
  });
});
