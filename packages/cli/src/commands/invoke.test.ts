import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PATIENTLY, withGateway } from '../testing/with-gateway.js';

const { capstan, folder, gateway, invoke } = withGateway();

describe('invoke', () => {
  it('prints only a lone result', async () => {
    expect(await invoke('cap:test_math:add', '{"a":2,"b":3}')).toEqual({ code: 0, stdout: '5\n', stderr: '' });
  });

  it('takes inputs as name=value, with strings determined by the schema of the tool', async () => {
    await invoke('fake:typed', 'code=007', 'n=5', 'list=["a", 1]', 'word=five', 'formula=a=b', '--no-wait');
    await invoke('fake:typed', 'code=5', '--no-wait');
    const sent = gateway().seen.filter(({ method }) => method === 'POST');
    expect(sent.map(({ body }) => JSON.parse(body).inputs)).toEqual([
      { code: '007', n: 5, list: ['a', 1], word: 'five', formula: 'a=b' },
      { code: '5' },
    ]);
  });

  it('reads name=value as JSON or text without a schema', async () => {
    expect(await invoke('cap:test_math:add', 'a=2', 'b=3')).toEqual({ code: 0, stdout: '5\n', stderr: '' });
    await invoke('fake:text', 'id=12345678901234567890', 'price=1.50', 'on=true', '--no-wait');
    expect(JSON.parse(gateway().seen.at(-1)?.body ?? '').inputs).toEqual({
      id: '12345678901234567890',
      price: 1.5,
      on: true,
    });
  });

  it.each([
    [['a=1', 'b'], 'expected name=value, not b'],
    [['a=1', 'a=2'], 'a is given twice'],
    [['{"a":1}', 'b=2'], 'expected name=value, not {"a":1}'],
  ])('refuses the inputs %j', async (inputs, reason) => {
    const { code, stderr } = await invoke('fake:text', ...inputs);
    expect(code).toBe(2);
    expect(stderr).toContain(reason);
    expect(gateway().seen.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('prints the streams of a process', async () => {
    expect(await invoke('fake:exec')).toEqual({ code: 0, stdout: 'to stdout', stderr: 'to stderr\n' });
  });

  it('shows the reason of a failure, its code and what to do', async () => {
    const { code, stdout, stderr } = await invoke('fake:fail');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      '✗ failed: the tool said no\n  code 2003 · inv_00000001\n  → The tool ran and reported an error; its message says why.\n',
    );
  });

  it('ends with 3 when denied, 4 when held, 5 when timed out, 2 for wrong inputs', async () => {
    const codes = [];
    for (const tool of ['fake:deny', 'fake:hold', 'fake:timeout', 'fake:invalid'])
      codes.push((await invoke(tool)).code);
    expect(codes).toEqual([3, 4, 5, 2]);
  });

  it('waits a moment for a grant to release a held call', async () => {
    const pending = invoke('fake:hold', '{"x":1}');
    await expect.poll(() => gateway().seen.some(({ path }) => path.endsWith('/events')), PATIENTLY).toBe(true);
    gateway().finish('inv_00000001');
    expect(await pending).toMatchObject({ code: 0, stdout: '{\n  "x": 1\n}\n', stderr: '' });
  });

  it('shows who can release a call that stays held, and the votes so far', async () => {
    const { code, stderr } = await invoke('fake:hold', '--wait', '50ms');
    expect(code).toBe(4);
    expect(stderr).toContain('It waits for a person: `capstan holds hld_00000001`');
  });

  it('shows why a waiting call has not started', async () => {
    const { code, stderr } = await invoke('fake:unserved', '--wait', '50ms');
    expect({ code, stderr }).toEqual({
      code: 5,
      stderr: '◷ still queued, inv_00000001: no worker serves exec\n  → Start one.\n',
    });
  });

  it('explains an unknown outcome, with the commands that resolve it', async () => {
    const { code, stderr } = await invoke('fake:lost');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        '? ambiguous: it may have taken effect; capstan show inv_00000001 says what happened\n  → Find out whether it took effect, then record it with capstan resolve, or run it again with capstan redrive\n',
    });
  });

  it('lists each of several mistakes in the inputs', async () => {
    expect((await invoke('fake:invalid')).stderr).toBe(
      '✗ the inputs do not fit\n  a: is required\n  b: is too long\n  code 2002\n  → Do something else.\n',
    );
  });

  it('follows the events of a call that takes longer', async () => {
    const pending = invoke('fake:never', '{"x":1}');
    await expect.poll(() => gateway().seen.some(({ path }) => path.endsWith('/events')), PATIENTLY).toBe(true);
    gateway().finish('inv_00000001');
    expect(await pending).toMatchObject({ code: 0, stdout: '{\n  "x": 1\n}\n' });
  });

  it('stops waiting at its limit and shows how to continue', async () => {
    const { code, stderr } = await invoke('fake:never', '--wait', '50ms');
    expect(code).toBe(5);
    expect(stderr).toContain('capstan logs -f inv_00000001');
  });

  it('does not wait with --no-wait, and prints the id', async () => {
    expect(await invoke('fake:never', '--no-wait')).toEqual({ code: 0, stdout: 'inv_00000001\n', stderr: '' });
    expect(gateway().seen[0]?.headers.prefer).toBeUndefined();
  });

  it('stops waiting with Ctrl-C and notes that the invocation continues', async () => {
    const controller = new AbortController();
    const pending = capstan(['invoke', 'fake:never'], { interrupt: controller.signal });
    await expect.poll(() => gateway().rows.size, PATIENTLY).toBe(1);
    controller.abort();
    const { code, stderr } = await pending;
    expect(code).toBe(130);
    expect(stderr).toContain('continues');
  });

  it('sends its options as the API spells them', async () => {
    await invoke(
      'fake:text',
      '--timeout',
      '5s',
      '--priority',
      '-3',
      '--label',
      'a=1',
      '--label',
      'b=2',
      '--idempotency-key',
      'k',
      '--delay',
      '1m',
      '--max-attempts',
      '2',
    );
    expect(JSON.parse(gateway().seen[0]?.body ?? '')).toEqual({
      tool_id: 'fake:text',
      inputs: {},
      timeout_ms: 5000,
      priority: -3,
      labels: { a: '1', b: '2' },
      idempotency_key: 'k',
      delay_ms: 60_000,
      max_attempts: 2,
    });
  });

  it('reads inputs from stdin and from a file', async () => {
    writeFileSync(join(folder(), 'in.json'), '{"a":1,"b":1}');
    expect((await invoke('cap:test_math:add', '@in.json')).stdout).toBe('2\n');
    expect((await capstan(['invoke', 'cap:test_math:add', '-'], { stdin: '{"a":2,"b":2}' })).stdout).toBe('4\n');
  });
});
