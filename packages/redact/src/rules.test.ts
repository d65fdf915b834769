import { describe, expect, test } from 'vitest';
import { createRedactor } from './create-redactor.js';
import { LiveRedactor } from './live-redactor.js';

const redactor = createRedactor({ values: [] });
const RANDOM = 'q7Zk2VxW9tLr4bNc8mJd1sHf6gPy3eQa5uTo0iXR';

describe('a value with a telling name', () => {
  test.each([
    ['ACME_API_KEY=%', 'ACME_API_KEY=[REDACTED]'],
    ['acme.token: "%"', 'acme.token: "[REDACTED]"'],
    ["'client_secret' => '%',", "'client_secret' => '[REDACTED]',"],
    ['var accessToken string = `%`', 'var accessToken string = `[REDACTED]`'],
    ['token := "%"', 'token := "[REDACTED]"'],
    ['{\\"password\\": \\"%\\"}', '{\\"password\\": \\"[REDACTED]\\"}'],
    ['GET /?api_key=%&page=2', 'GET /?api_key=[REDACTED]&page=2'],
    ['<apiToken>%</apiToken>', '<apiToken>[REDACTED]</apiToken>'],
    ['--auth-token=%', '--auth-token=[REDACTED]'],
  ])('is redacted in %s', (template, expected) => {
    expect(redactor.text(template.replace('%', RANDOM))).toBe(expected);
  });

  test.each([
    'the key to success is: persistence-and-patience-always',
    'primary_key = "8f14e45fceea167a5a36dedd4bea2543"',
    'api_version: 2024-05-06.preview.12',
    'token = os.environ["GITHUB_TOKEN"]',
    'password: $DB_PASSWORD_OF_9_LIVES',
    'keyboard_layout = "de-latin1-nodeadkeys"',
    'author = "somebody.else@example.com1"',
  ])('is not redacted in %s', (text) => {
    expect(redactor.text(text)).toBe(text);
  });

  test('is redacted as a member of JSON, and its name is kept', () => {
    const payload = { access_token: RANDOM, Authorization: `Bearer ${RANDOM}`, expires_in: 3600, id: RANDOM };
    expect(redactor.json(payload)).toEqual({
      access_token: '[REDACTED]',
      Authorization: 'Bearer [REDACTED]',
      expires_in: 3600,
      id: RANDOM,
    });
  });
});

describe('addresses and commands', () => {
  test.each([
    ['postgres://user:s3cr3t-pass@db.local/app', 'postgres://user:[REDACTED]@db.local/app'],
    ['http://localhost:8080/a@b', 'http://localhost:8080/a@b'],
    ['https://user:password@example.com', 'https://user:password@example.com'],
    ['curl -u admin:pQ9wTxu4Fg https://h', 'curl -u admin:[REDACTED] https://h'],
    ['sort -u names:pQ9wTxu4Fg', 'sort -u names:pQ9wTxu4Fg'],
    ['curl -H "X-Api-Key: pQ9wTxu4Fg12" h', 'curl -H "X-Api-Key: [REDACTED]" h'],
  ])('%s', (text, expected) => {
    expect(redactor.text(text)).toBe(expected);
  });

  const secret = (order: 'before' | 'after') => {
    const data = 'data:\n  password: cGFzc3dvcmQxMjM0\n  user: YWRtaW5pc3RyYXRvcg==\n';
    const kind = 'kind: Secret\n';
    return `apiVersion: v1\n${order === 'before' ? kind + data : data + kind}metadata:\n  name: x\n`;
  };
  test.each(['before', 'after'] as const)(
    'a Kubernetes Secret whose kind comes %s its data is redacted, wherever a stream is split',
    (order) => {
      const text = secret(order);
      const whole = redactor.text(text);
      expect(whole).toContain('password: [REDACTED]');
      expect(whole).not.toContain('YWRtaW5pc3RyYXRvcg');
      expect(whole).toContain('metadata:\n  name: x\n');
      for (let cut = 0; cut <= text.length; cut += 1) {
        const { push, end } = redactor.stream();
        expect(push(text.slice(0, cut)) + push(text.slice(cut)) + end()).toBe(whole);
      }
    },
  );

  test('a ConfigMap of the same form is not changed', () => {
    const text = secret('after').replace('Secret', 'ConfigMap').replace('password', 'greeting');
    expect(redactor.text(text)).toBe(text);
  });
});

describe('custom patterns', () => {
  const custom = createRedactor({ values: [], patterns: ['ACME-[0-9]{6}', '(?i)badge \\w+'] });

  test('are redacted in text, JSON and streams', () => {
    expect(custom.text('x ACME-123456 y\nBadge seven')).toBe('x [REDACTED] y\n[REDACTED]');
    expect(custom.json({ a: ['ACME-123456'] })).toEqual({ a: ['[REDACTED]'] });
    const { push, end } = custom.stream();
    expect(push('x ACME-12') + push('3456 y\nba') + push('dge 7') + end()).toBe('x [REDACTED] y\n[REDACTED]');
  });

  test.each([0, 4080, 8180, 12_270, 12_288, 16_370, 16_380, 16_384, 24_570, 28_660, 32_760, 100_000])(
    'are found after %i characters of the same line',
    (length) => {
      for (const space of [' ', '💡'])
        for (let more = 0; more < 20; more += 1) {
          const before = space.repeat(length / space.length) + '.'.repeat(more);
          expect(custom.text(`${before}ACME-123456${before}`)).toBe(`${before}[REDACTED]${before}`);
        }
    },
  );

  test('match once across the end of a piece', () => {
    for (const length of [9000, 12_000, 16_000])
      expect(custom.text(`${' '.repeat(length)}badge ${'x'.repeat(8000)} y`)).toBe(`${' '.repeat(length)}[REDACTED] y`);
  });

  test('give one replacement for overlapping matches and two for adjacent ones', () => {
    const two = createRedactor({ values: [], patterns: ['ab+', 'b+c'] });
    expect(two.text('xabbcx abab')).toBe('x[REDACTED]x [REDACTED][REDACTED]');
  });

  test('are found in a long line, however a stream is split', () => {
    const text = `${'ACME-123456 and a badge seven, '.repeat(2000)}\nACME-123456`;
    for (const size of [1, 1000, 16_384, 20_000]) {
      const { push, end } = custom.stream();
      let out = '';
      for (let at = 0; at < text.length; at += size) out += push(text.slice(at, at + size));
      expect(out + end()).toBe(`${'[REDACTED] and a [REDACTED], '.repeat(2000)}\n[REDACTED]`);
    }
  });

  test('match in linear time', () => {
    const evil = createRedactor({ values: [], patterns: ['(a+)+b'] });
    expect(evil.text(`${'a'.repeat(100_000)}!`)).toHaveLength(100_001);
  });

  test.each(['(', 'a(?=b)', '\\'])('that are invalid are refused by name: %s', (pattern) => {
    expect(() => createRedactor({ values: [], patterns: [pattern] })).toThrow(`the redaction pattern ${pattern}`);
  });

  test('that match the empty text are refused, because they would match everywhere', () => {
    expect(() => createRedactor({ values: [], patterns: ['x*'] })).toThrow('matches the empty text');
  });
});

test('a redactor created by `with` knows the old and new values, and the original is unchanged', () => {
  const base = createRedactor({ values: ['first-known-value'] });
  const more = base.with(['second-known-value']);
  expect(more.text('first-known-value second-known-value')).toBe('[REDACTED] [REDACTED]');
  expect(base.text('second-known-value')).toBe('second-known-value');
});

test('a live redactor redacts learned values, also for earlier holders', () => {
  const live = new LiveRedactor(redactor);
  const { text } = { text: (value: string) => live.text(value) };
  expect(text('hunter2-hunter2')).toBe('hunter2-hunter2');
  live.learn('hunter2-hunter2');
  expect(text('hunter2-hunter2')).toBe('[REDACTED]');
  expect(live.json({ a: 'hunter2-hunter2' })).toEqual({ a: '[REDACTED]' });
});

test('each line of a multi-line secret is redacted, even if it is indented', () => {
  const lines = ['line-one-of-a-long-key-file', 'line-two-of-a-long-key-file'];
  const known = createRedactor({ values: [lines.join('\n')] });
  expect(known.text(`  ${lines[1]}\n  ${lines[0]}`)).toBe('  [REDACTED]\n  [REDACTED]');
});

test('an error message does not reveal the home directory', () => {
  const homely = createRedactor({ values: [], home: '/home/ann' });
  expect(homely.error('cannot open /home/ann/work/x')).toBe('cannot open ~/work/x');
  expect(homely.text('cannot open /home/ann/work/x')).toBe('cannot open /home/ann/work/x');
});
