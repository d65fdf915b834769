import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startFakeGateway } from '../testing/fake-gateway.js';
import type { RunOptions } from '../testing/run-in-test.js';
import { PATIENTLY, withGateway } from '../testing/with-gateway.js';

const { capstan, folder, gateway } = withGateway();
const parseLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('submit', () => {
  const write = (lines: readonly (object | string)[]): string => {
    const file = join(folder(), 'work.jsonl');
    writeFileSync(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
    return file;
  };
  const add = (a: number) => ({ tool_id: 'cap:test_math:add', inputs: { a, b: 0 } });

  it('sends a file in bulks of 10,000 and reports the runs', async () => {
    const { code, stdout, stderr } = await capstan([
      'submit',
      write(Array.from({ length: 12_000 }, (_, index) => add(index))),
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'run_bulk1\nrun_bulk2\n' });
    expect(stderr).toContain('12,000 invocations: 12,000 accepted');
    expect(gateway().seen.map(({ body }) => JSON.parse(body).invocations.length)).toEqual([10_000, 2_000]);
  });

  it('waits for all and prints their results in the order of the file', async () => {
    const lines = [
      { tool_id: 'fake:slow', inputs: { ms: 200 } },
      add(1),
      '{oops',
      { nope: 1 },
      { tool_id: 'fake:fail' },
      add(2),
    ];
    const { code, stdout, stderr } = await capstan(['submit', write(lines), '--wait']);
    expect(code).toBe(1);
    expect(stderr).toContain('✗ item 5, fake:fail: failed: the tool said no\n  inv_00000003\n');
    expect(stderr).toContain('capstan show run_bulk1');
    expect(parseLines(stdout).map(({ index, status, result }) => [index, status, result?.payload ?? null])).toEqual([
      [0, 'succeeded', { ms: 200 }],
      [1, 'succeeded', { result: 1 }],
      [2, 'invalid', null],
      [3, 'invalid', null],
      [4, 'failed', null],
      [5, 'succeeded', { result: 2 }],
    ]);
  });

  it('prints a line for each item instead of JSON on a terminal', async () => {
    const lines = [add(1), { tool_id: 'fake:fail' }, { nope: 1 }];
    const { stdout, stderr } = await capstan(['submit', write(lines), '--wait'], { tty: true, columns: 80 });
    const text = stripVTControlCharacters(stdout);
    expect(text).toContain('✓ succeeded  item 1  cap:test_math:add  {"result":1}');
    expect(text).toContain('✗ failed  item 2  fake:fail  the tool said no');
    expect(text).toContain('✗ invalid  item 3');
    expect(stderr).not.toContain('item 2, fake:fail');
  });

  it('reports invalid items by line', async () => {
    const { code, stderr } = await capstan(['submit', write([add(1), '', '{oops', { nope: 1 }])]);
    expect(code).toBe(1);
    expect(stderr).toContain('line 3: not JSON');
    expect(stderr).toContain('line 4: tool_id: required');
    expect(stderr).toContain('1 accepted, 2 invalid');
  });

  it('does not wait for held calls', async () => {
    const { code, stdout } = await capstan(['submit', write([add(1), { tool_id: 'fake:hold' }]), '--wait']);
    expect(code).toBe(4);
    expect(parseLines(stdout).map(({ status }) => status)).toEqual(['succeeded', 'held']);
  });

  it('stops waiting at its limit', async () => {
    const { code, stdout } = await capstan(['submit', write([{ tool_id: 'fake:never' }]), '--wait-limit', '100ms']);
    expect(code).toBe(5);
    expect(parseLines(stdout)).toMatchObject([{ index: 0, status: 'queued' }]);
  });

  it('reads an array from stdin, and prints a summary as JSON', async () => {
    const { stdout } = await capstan(['submit', '-', '--json'], { stdin: JSON.stringify([add(1), add(2)], null, 2) });
    expect(JSON.parse(stdout)).toEqual({
      submitted: 2,
      accepted: 2,
      held: 0,
      denied: 0,
      invalid: 0,
      run_ids: ['run_bulk1'],
    });
  });

  it('exits at Ctrl-C while reading, sending and waiting', async () => {
    const interrupt = async (args: string[], options: RunOptions, seen: () => boolean) => {
      const controller = new AbortController();
      const pending = capstan(args, { ...options, interrupt: controller.signal });
      await expect.poll(seen, PATIENTLY).toBe(true);
      controller.abort();
      return pending;
    };
    const never = write([{ tool_id: 'fake:never' }]);
    const polled = () => gateway().seen.some(({ path }) => path.startsWith('/v1/runs/'));
    expect(await interrupt(['submit', never, '--wait'], {}, polled)).toMatchObject({
      code: 130,
      stdout: '',
      stderr: expect.stringContaining('The invocations continue'),
    });
    const stdin = new PassThrough();
    const reading = () => stdin.listenerCount('readable') + stdin.listenerCount('data') > 0;
    expect(await interrupt(['submit', '-'], { stdin }, reading)).toMatchObject({ code: 130, stdout: '' });
    gateway().overload(100);
    const sent = () => gateway().seen.filter(({ path }) => path.endsWith('/bulk')).length > 1;
    expect(await interrupt(['submit', never], {}, sent)).toMatchObject({ code: 130, stdout: '' });
  });

  it('repeats what an overloaded gateway did not accept', async () => {
    gateway().overload(2);
    expect(await capstan(['submit', write([add(1)])])).toMatchObject({ code: 0, stdout: 'run_bulk1\n' });
    expect(gateway().seen).toHaveLength(3);
  });

  it('splits a bulk that is too large for the gateway, and refuses a single item that is too large', async () => {
    const small = await startFakeGateway({ bodyLimit: 300 });
    try {
      const lines = [add(1), add(2), { tool_id: 'fake:text', inputs: { x: 'x'.repeat(400) } }, add(3), add(4), add(5)];
      const { code, stdout } = await capstan(['submit', write(lines), '--wait'], { env: { CAPSTAN_URL: small.url } });
      expect(code).toBe(1);
      expect(parseLines(stdout).map(({ index, status }) => `${index} ${status}`)).toEqual([
        '0 succeeded',
        '1 succeeded',
        '2 invalid',
        '3 succeeded',
        '4 succeeded',
        '5 succeeded',
      ]);
    } finally {
      await small.close();
    }
  });
});
