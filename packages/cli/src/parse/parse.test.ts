import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseDuration } from './duration.js';
import { readInputs } from './inputs.js';
import { integer } from './integer.js';
import { parseLabel, parseLabelQuery } from './label.js';
import { parseMoment } from './moment.js';
import { parseRunners } from './words.js';

describe('a time', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['1.5', 1_500],
    ['0', 0],
  ])('%s is %i milliseconds', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', 'soon', '5x', '-5s', '5 m', '5sx', 's'])('"%s" is refused', (text) => {
    expect(() => parseDuration(text)).toThrow(InvalidArgumentError);
  });
});

describe('a moment', () => {
  const parse = parseMoment(() => new Date('2026-01-02T00:00:00Z'));

  it('is a timestamp or an age', () => {
    expect(parse('2026-01-01T12:00:00+01:00')).toBe('2026-01-01T11:00:00.000Z');
    expect(parse('2026-01-01')).toBe('2026-01-01T00:00:00.000Z');
    expect(parse('2h')).toBe('2026-01-01T22:00:00.000Z');
  });

  it('refuses other texts', () => {
    expect(() => parse('yesterday')).toThrow('10m, 2h, 3d');
  });
});

describe('an enum option', () => {
  it('accepts several values, with commas or repeated', () => {
    expect(parseRunners('exec, api', ['builtin', 'exec'])).toEqual(['builtin', 'exec', 'api']);
  });

  it('refuses an unknown value with the known ones', () => {
    expect(() => parseRunners('exec,shell')).toThrow('exec, analyze, browser');
    expect(() => parseRunners('constructor')).toThrow(InvalidArgumentError);
  });
});

describe('a number', () => {
  it('must be whole and within its bounds', () => {
    expect(integer(-5, 5)('-5')).toBe(-5);
    for (const text of ['6', '1.5', '', 'x', '1e3']) expect(() => integer(-5, 5)(text)).toThrow('from -5 to 5');
  });
});

describe('a label', () => {
  it('is a name and a value, which may contain an equals sign', () => {
    expect(parseLabel('b=c=d', { a: '1' })).toEqual({ a: '1', b: 'c=d' });
    expect(() => parseLabel('=x')).toThrow('team=search');
  });

  it('is searched in the spelling of the gateway', () => {
    expect(parseLabelQuery('team=a', parseLabelQuery('urgent'))).toEqual(['urgent', 'team:a']);
  });
});

describe('inputs', () => {
  const sources = {
    readStdin: async () => '{"from": "stdin"}',
    readFile: async (path: string) =>
      path === 'good.json' ? '{"from": "file"}' : Promise.reject(new Error('no such file')),
  };

  it('come from the argument, a file or stdin, or are empty', async () => {
    expect(await readInputs('{"a": 1}', sources)).toEqual({ a: 1 });
    expect(await readInputs('@good.json', sources)).toEqual({ from: 'file' });
    expect(await readInputs('-', sources)).toEqual({ from: 'stdin' });
    expect(await readInputs(undefined, sources)).toEqual({});
  });

  it('that cannot be used are refused with the reason', async () => {
    await expect(readInputs('[1]', sources)).rejects.toThrow('a JSON object, not an array');
    await expect(readInputs('null', sources)).rejects.toThrow('not null');
    await expect(readInputs('{a}', sources)).rejects.toThrow('not valid JSON');
    await expect(readInputs('@bad.json', sources)).rejects.toThrow('cannot read bad.json: no such file');
  });
});
