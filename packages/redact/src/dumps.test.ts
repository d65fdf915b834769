import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { createRedactor } from './create-redactor.js';

const VALUE = 'hunter2-of-the-tenant/9fKq-Zt48';
const redactor = createRedactor({ values: [VALUE] });

const TOOLS: readonly (readonly [tool: string, args: readonly string[]])[] = [
  ['xxd', []],
  ['xxd', ['-u']],
  ['xxd', ['-e']],
  ['xxd', ['-g1']],
  ['xxd', ['-c', '7']],
  ['xxd', ['-b']],
  ['hexdump', []],
  ['hexdump', ['-C']],
  ['hexdump', ['-x']],
  ['hexdump', ['-b']],
  ['hexdump', ['-c']],
  ['hexdump', ['-d']],
  ['od', []],
  ['od', ['-x']],
  ['od', ['-tx1']],
  ['od', ['-tx1z']],
  ['od', ['-Ax', '-tx1z']],
  ['od', ['-tx4']],
  ['od', ['-tx8']],
  ['od', ['-b']],
  ['od', ['-c']],
  ['od', ['-tu1']],
  ['od', ['-td1z']],
  ['od', ['-tx1', '-c']],
  ['od', ['-xc']],
  ['od', ['-Ax', '-tu1', '-c', '-x']],
  ['od', ['-An', '-x']],
  ['od', ['-An', '-tx1']],
];
const dump = (tool: string, args: readonly string[], input: string) =>
  spawnSync(tool, args, { input }).stdout.toString();

/** One for each input. A shell starts the tools, because starting a process from a process as large as this takes ten times as long. */
function dumps(tool: string, args: readonly string[], inputs: readonly string[]): string[] {
  const each = 'for input in $INPUTS; do printf %b "$input" | "$@"; printf "\\0"; done';
  const INPUTS = inputs
    .map((input) => [...Buffer.from(input)].map((byte) => `\\0${byte.toString(8)}`).join(''))
    .join(' ');
  const env = { PATH: process.env.PATH, INPUTS };
  return spawnSync('sh', ['-c', each, 'sh', tool, ...args], { env })
    .stdout.toString()
    .split('\0')
    .slice(0, -1);
}

const BEFORE = Array.from({ length: 17 }, (_, before) => before);
const isMissing = (tool: string) => spawnSync(tool, ['/dev/null']).error !== undefined;

const cutEvery = (text: string, length: number) => text.match(new RegExp(`.{1,${length}}`, 'gs')) ?? [];
const streamed = (pieces: readonly string[]) => {
  const { push, end } = redactor.stream();
  return pieces.map((piece) => push(piece)).join('') + end();
};

/** The readable characters of a text. */
const letters = (text: string) => text.replace(/[^ -~]|\s/g, '');

describe('a known value in a dump', () => {
  for (const [tool, args] of TOOLS) {
    const command = [tool, ...args].join(' ');
    test.skipIf(isMissing(tool))(`of ${command} is redacted wherever it begins (NOT TESTED without ${tool})`, () => {
      const around = (middle: string) => BEFORE.map((before) => `${'.'.repeat(before)}${middle}${'.'.repeat(20)}`);
      const with_value = dumps(tool, args, around(VALUE));
      const without = dumps(tool, args, around('.'.repeat(VALUE.length)));
      expect([with_value.length, without.length]).toEqual([BEFORE.length, BEFORE.length]);
      for (const before of BEFORE) {
        const harmless = new Set(without[before]?.split(/\s+/));
        const redacted = redactor.text(with_value[before] ?? '');
        expect(redacted).toContain('[REDACTED]');
        const cells = redacted.split('\n').flatMap((line) => line.split(/\s+/).slice(1));
        const left = cells.filter((cell) => !harmless.has(cell) && !/\[REDACTED\]|^[.|<>]+$/.test(cell));
        // Without offsets, half a word remains at either end.
        expect(left.length, redacted).toBeLessThanOrEqual(command === 'od -An -x' ? 2 : 0);
        for (let at = 0; at + 3 <= VALUE.length; at += 1)
          expect(letters(redacted), redacted).not.toContain(VALUE.slice(at, at + 3));
      }
    });

    test.skipIf(isMissing(tool))(
      `of ${command} is redacted however a stream is cut (NOT TESTED without ${tool})`,
      () => {
        const text = `before\n${dump(tool, args, `some bytes, ${VALUE} and more of them`)}after\n`;
        const whole = redactor.text(text);
        expect(whole).toMatch(/^before\n.*\[REDACTED\].*after\n$/s);
        for (const length of [1, 7]) expect(streamed(cutEvery(text, length))).toBe(whole);
        for (let cut = 0; cut <= text.length; cut += 5)
          expect(streamed([text.slice(0, cut), text.slice(cut)])).toBe(whole);
      },
    );
  }

  test.each([
    ['xxd', []],
    ['xxd', ['-e']],
    ['hexdump', ['-C']],
    ['hexdump', ['-x']],
    ['od', ['-c']],
    ['od', ['-tx1', '-c']],
    ['od', ['-tu1']],
  ])('of %s %j in a string of JSON text is redacted, and the text stays JSON', (tool, args) => {
    const inputs = BEFORE.map((before) => `a "quoted" \\ thing${'.'.repeat(before)}${VALUE}\n\tmore "of" it`);
    for (const rows of dumps(tool, args, inputs)) {
      for (const text of [
        JSON.stringify({ id: 'beef 1', out: rows, more: [1] }),
        JSON.stringify([`$ ${tool}\n${rows}done`, 'x'], null, 2),
      ]) {
        const redacted = redactor.text(text);
        const [meant, redactedRows] = [text, redacted].map((each) => Object.values(JSON.parse(each)));
        expect(redactedRows).toHaveLength(meant?.length ?? 0);
        expect(redacted).toContain('[REDACTED]');
        expect(JSON.stringify(redactedRows)).toBe(JSON.stringify(redactor.json(JSON.parse(JSON.stringify(meant)))));
        for (const length of [1, 7, 100]) expect(streamed(cutEvery(text, length))).toBe(redacted);
      }
    }
  });

  test('in JSON text that holds none of the value is not changed', () => {
    const rows = dump('xxd', [], 'nothing "secret" \\ in\there\n'.repeat(9));
    for (const text of [
      JSON.stringify({ rows }),
      `"0000: x\n"0001: \\`,
      `"${'0'.repeat(9000)}"`,
      '"0000 \\',
      '"0000 a\\n',
    ]) {
      expect(redactor.text(text)).toBe(text);
      expect(streamed(cutEvery(text, 3))).toBe(text);
    }
  });

  test('is removed from the digits and the text column, and the rest of the row stays', () => {
    const text = [
      '00000000: 7573 6572 3d61 6e6e 2070 7764 3d68 756e  user=ann pwd=hun',
      '00000010: 7465 7232 2d6f 662d 7468 652d 7465 6e61  ter2-of-the-tena',
      '00000020: 6e74 2f39 664b 712d 5a74 3438 2061 6263  nt/9fKq-Zt48 abc',
      '',
    ].join('\n');
    expect(redactor.text(text)).toBe(
      [
        '00000000: 7573 6572 3d61 6e6e 2070 7764 [REDACTED]  user=ann pwd=[REDACTED]',
        '00000010: [REDACTED]  [REDACTED]',
        '00000020: [REDACTED] 2061 6263  [REDACTED] abc',
        '',
      ].join('\n'),
    );
  });

  test('of tcpdump or with colors is redacted', () => {
    const rows = [
      ['6875 6e74 6572 322d 6f66 2d74 6865 2d74', 'hunter2-of-the-t'],
      ['656e 616e 742f 3966 4b71 2d5a 7434 38', 'enant/9fKq-Zt48'],
    ];
    const tcpdump = rows.map(([hex, text], row) => `\t0x00${row}0:  ${hex}  ${text}`).join('\n');
    expect(redactor.text(tcpdump)).toBe('\t0x0000:  [REDACTED]  [REDACTED]\n\t0x0010:  [REDACTED]  [REDACTED]');
    const coloured = rows.map(([hex, text], row) => {
      const cells = hex?.split(' ').map((cell) => `\u001b[1;32m${cell}\u001b[0m`);
      return `000000${row}0: ${cells?.join(' ')}  \u001b[1;32m${text}\u001b[0m`;
    });
    expect(redactor.text(coloured.join('\n'))).not.toMatch(/6875|656e|hunt|nant/);
  });

  test('does not change dumps that do not contain it', () => {
    const text = dump('od', ['-tx1z'], 'hunter2-of-the-tenancy, and some more of what nobody minds');
    expect(redactor.text(text)).toBe(text);
    expect(streamed(cutEvery(text, 5))).toBe(text);
  });

  test('holds back only the rows in which it may begin', () => {
    const { push } = redactor.stream();
    const row = '00000000: 2e2e 2e2e 2e2e 2e2e 2e2e 2e2e 2e2e 2e2e  ................\n';
    expect(push(row)).toBe(row);
    const begun = '00000010: 2e2e 2e2e 2e2e 2e2e 2e2e 2e2e 6875 6e74  ............hunt\n';
    expect(push(begun)).toBe('');
    expect(push('done.\n')).toBe(`${begun}done.\n`);
  });

  test('of any size is redacted in time linear in the size of the dump', () => {
    const row = '00000000: 6875 6e74 6572 322d 6875 6e74 6572 322d  hunter2-hunter2-\n';
    const text = row.repeat(5000);
    expect(redactor.text(text)).toBe(text);
    expect(redactor.text('68 '.repeat(100_000))).toBe('68 '.repeat(100_000));
  });
});
