import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { RunOptions } from './testing/run-in-test.js';
import { withGateway } from './testing/with-gateway.js';

const { capstan, gateway } = withGateway();
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

describe('capstan without arguments', () => {
  it('lists all commands by task, with examples', async () => {
    const { code, stdout } = await capstan([]);
    expect(code).toBe(0);
    expect(stdout).toContain('Run tools');
    expect(stdout).toContain(`$ capstan invoke cap:test_math:add '{"a": 2, "b": 3}'`);
    expect(stdout.split('\n').length).toBeLessThan(95);
  });

  it('has help for each command', async () => {
    const { code, stdout } = await capstan(['help', 'invoke']);
    expect(code).toBe(0);
    expect((await capstan(['help', 'keys', 'create'])).stdout).toContain('Usage: capstan keys create');
    expect(stdout).toContain('--idempotency-key');
    expect(stdout).toContain('--url');
  });

  it('prints its version, asked as a command or as an option', async () => {
    const asked = await Promise.all([['version'], ['--version'], ['-V']].map((args) => capstan(args)));
    for (const answer of asked) expect(answer).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect(JSON.parse((await capstan(['version', '--json'])).stdout)).toEqual({ version });
  });
});

describe('a usage error', () => {
  it.each([
    [['lst'], 'Did you mean'],
    [['help', 'nope'], 'there is no `capstan nope`'],
    [['help', 'keys', 'revoke'], 'there is no `capstan keys revoke`'],
    [['list', '--status', 'bad'], 'succeeded, failed'],
    [['list', '--bogus'], "unknown option '--bogus'"],
    [['invoke'], "missing required argument 'tool_id'"],
    [['invoke', 'x', '[1]'], 'a JSON object, not an array'],
    [['worker', '--runner', 'shell'], 'exec, analyze'],
    [['resolve', 'inv_1', '--outcome', 'failed'], '--comment'],
    [['cancel'], '--all'],
    [['keys', 'revoke', 'key_1'], 'there is no `capstan keys revoke`; it has list, create, delete'],
    [['keys', '--json', 'revoke'], 'there is no `capstan keys revoke`'],
    [['keys', 'create', '--roles', 'submit'], "unknown option '--roles'"],
    [['release', '--tool', 'cap:*', '--yes'], 'the id of one tool, without wildcards'],
    [['queues', 'pause', 'shells'], "'shells' is no runner. Expected one of exec"],
    [['submit', 'missing.jsonl'], 'cannot read missing.jsonl'],
    [['list', '--url', 'nonsense'], 'not a gateway URL'],
  ])('%j ends with 2 and says why, on stderr', async (args, reason) => {
    const { code, stdout, stderr } = await capstan(args);
    expect(code).toBe(2);
    expect(stderr).toContain(reason);
    expect(stdout).toBe('');
  });
});

describe('a usage error on a terminal', () => {
  it('is broken between words', async () => {
    const { stderr } = await capstan(['queues', 'pause', 'shells'], { tty: true, columns: 40 });
    const lines = stripVTControlCharacters(stderr).trimEnd().split('\n');
    expect(lines.slice(0, -1).map(({ length }) => length <= 40)).not.toContain(false);
    expect(lines.join(' ').replace(/\s+/g, ' ')).toContain('Expected one of exec, analyze, browser, api, mcp');
  });
});

describe('--json', () => {
  it('prints usage errors as JSON on stderr', async () => {
    for (const args of [
      ['--json', 'lst'],
      ['list', '--bogus', '--json'],
      ['keys', '--json', 'revoke'],
    ]) {
      const { code, stdout, stderr } = await capstan(args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(JSON.parse(stderr)).toEqual({ detail: expect.any(String), suggestion: expect.stringContaining('--help') });
    }
  });

  it('prints one JSON value on stdout, wherever the option is given', async () => {
    for (const args of [
      ['--json', 'invoke', 'fake:text'],
      ['invoke', 'fake:text', '--json'],
      ['queues', '--json'],
      ['list', '--json'],
      ['doctor', '--json'],
    ]) {
      const { stdout } = await capstan(args);
      expect(typeof JSON.parse(stdout)).toBe('object');
    }
  });

  it('prints the problem on stderr', async () => {
    const { code, stdout, stderr } = await capstan(['invoke', 'fake:deny', '--json']);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ code: 1001, status: 403 });
  });
});

describe('color', () => {
  it('is used on a terminal, and not in a pipe, with NO_COLOR, with --no-color or on a dumb terminal', async () => {
    const colored = async (options: RunOptions, ...more: string[]): Promise<boolean> =>
      (await capstan(['queues', ...more], options)).stdout.includes('\u001b[');
    expect(await colored({ tty: true })).toBe(true);
    expect(await colored({ tty: false })).toBe(false);
    expect(await colored({ tty: true, env: { NO_COLOR: '1' } })).toBe(false);
    expect(await colored({ tty: true, env: { TERM: 'dumb' } })).toBe(false);
    expect(await colored({ tty: true }, '--no-color')).toBe(false);
  });
});

describe('a connection error', () => {
  it('shows the URL that does not respond and how to start a gateway', async () => {
    await gateway().close();
    const { code, stderr } = await capstan(['list']);
    expect(code).toBe(1);
    expect(stderr).toContain(`Cannot reach Capstan at ${gateway().url}`);
    expect(stderr).toContain('npm start');
  });

  it('shows the origin of a rejected key, or where keys are searched', async () => {
    expect((await capstan(['list', '--key', 'bad'])).stderr).toContain('The key came from --key');
    expect((await capstan(['list'], { env: { CAPSTAN_API_KEY: '' } })).stderr).toContain('.capstan/admin.key');
  });
});
