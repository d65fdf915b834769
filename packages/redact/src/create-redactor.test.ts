import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from './create-redactor.js';

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
const PEM = [
  '-----BEGIN RSA PRIVATE KEY-----',
  'Proc-Type: 4,ENCRYPTED',
  'DEK-Info: AES-128-CBC,0123456789ABCDEF',
  '',
  'MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aumzcRxDzCIMGjDPfxbzlDPk9f',
  'o2VYGZ4bHhGkTqmUJcC9LTJdF3m8lRLm8e2Gk0H5yQyQ7vXcWnE1pZrSfTgUbYhN',
  '-----END RSA PRIVATE KEY-----',
].join('\n');
const PGP = [
  '-----BEGIN PGP PRIVATE KEY BLOCK-----',
  "Comment: Alice's key <alice@example.com> (2024)",
  '',
  'lQOYBGXf1c7+9z5Pad7OejecsQ0bu3aumzcRxDzCIMGjDPfxbzlDPk9f',
  '-----END PGP PRIVATE KEY BLOCK-----',
].join('\n');

const RANDOM = 'q7Zk2VxW9tLr4bNc8mJd1sHf6gPy3eQa5uTo0iXRvBwEzCnMhKjGlSpDyFrAtUcN7wJk';
const SHAPES: [name: string, secret: string][] = [
  ['an AWS access key id', 'AKIAIOSFODNN7EXAMPLE'],
  ['a temporary AWS access key id', 'ASIAIOSFODNN7EXAMPLE'],
  ['a GitHub personal token', `ghp_${RANDOM.slice(0, 36)}`],
  ['a GitHub OAuth token', `gho_${RANDOM.slice(0, 36)}`],
  ['a fine-grained GitHub token', `github_pat_${RANDOM.slice(0, 22)}_${RANDOM.slice(0, 59)}`],
  ['a Slack bot token', 'xoxb-123456789012-1234567890123-abcDEFghiJKLmnoPQRstuVWX'],
  ['a Slack user token', 'xoxp-123456789012-1234567890123-abcDEFghi'],
  ['a Google API key', `AIza${RANDOM.slice(0, 35)}`],
  ['a Stripe key', 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'],
  ['a JWT', JWT],
  ['a PEM private key', PEM],
  ['a PGP private key', PGP],
  ['a Capstan API key', 'cap_V1StGXR8_Z5jdHi6B-myT-Xk29sLq0Wz'],
];

const redactor = createRedactor({ values: [] });
const KNOWN = 'p/ss+w rd:42!ünï';
const knowing = createRedactor({ values: [KNOWN] });

describe('well-known formats', () => {
  test.each(SHAPES)('%s is redacted, and the text around it is kept', (_, secret) => {
    expect(redactor.text(`before ${secret}; after`)).toBe('before [REDACTED]; after');
  });

  test.each(SHAPES)('%s is redacted within a JSON string', (_, secret) => {
    const text = JSON.stringify({ a: `\n${secret}\n`, b: 1 });
    expect(redactor.text(text)).not.toContain(JSON.stringify(secret).slice(1, -1).slice(8, -8));
    expect(redactor.text(text)).toContain('"b":1');
  });

  test.each([
    ['Authorization: Bearer abc123.def-456', 'Authorization: Bearer [REDACTED]'],
    ['authorization: bearer abc123.def-456\r\nHost: x', 'authorization: bearer [REDACTED]\r\nHost: x'],
    ['{"Authorization":"Bearer abc123"}', '{"Authorization":"Bearer [REDACTED]"}'],
    ['{\\"Authorization\\": \\"Bearer abc123\\"}', '{\\"Authorization\\": \\"Bearer [REDACTED]\\"}'],
    ["{'Authorization': 'Basic dXNlcjpwYXNz'}", "{'Authorization': 'Basic [REDACTED]'}"],
    [`Authorization: Bearer ${JWT}`, 'Authorization: Bearer [REDACTED]'],
  ])('the token of %j is redacted, and the name of the header is kept', (text, expected) => {
    expect(redactor.text(text)).toBe(expected);
  });

  test.each([
    'the capability cap_current_time_get_current_time ran',
    'Authorization: Bearer $TOKEN',
    'the authorization request. Device Authorization RFC8628',
    "new Set(['authorization', 'content-type'])",
    'ghp_ is the prefix of such tokens, and AKIA that of others',
    '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
    '-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----',
    `${'-'.repeat(200)}\n| table |\n${'-'.repeat(200)}`,
    'eyJmaWxlIjoiYmFzZTY0IG9mIEpTT04ifQ==',
    'sk_live_ and sk_live_short',
  ])('%j is not changed', (text) => {
    expect(redactor.text(text)).toBe(text);
  });

  test('a truncated private key is redacted as far as it goes', () => {
    expect(redactor.text(`${PEM.slice(0, -40)}\n[exit 1]`)).toBe('[REDACTED][exit 1]');
  });

  test('a token longer than any limit is redacted to its end', () => {
    const { push, end } = redactor.stream();
    const pieces = [`x ghp_${RANDOM.slice(0, 36)}`, ...Array.from({ length: 50 }, () => 'b'.repeat(65_536)), ' y'].map(
      push,
    );
    expect(pieces.join('') + end()).toBe('x [REDACTED] y');
  });

  test('redacted text is not changed again', () => {
    const once = redactor.text(SHAPES.map(([, secret]) => secret).join('\n'));
    expect(redactor.text(once)).toBe(once);
  });
});

describe('known values', () => {
  const b64 = (text: string) => Buffer.from(text).toString('base64');
  test.each([
    ['as it is', KNOWN],
    ['in a JSON string', JSON.stringify(KNOWN).slice(1, -1)],
    ['URL-encoded', encodeURIComponent(KNOWN)],
    ['URL-encoded with lower-case digits', encodeURIComponent(KNOWN).replace(/%../g, (e) => e.toLowerCase())],
    ['in a form', encodeURIComponent(KNOWN).replaceAll('%20', '+')],
    ['in a path', encodeURIComponent(KNOWN).replaceAll('%2F', '/')],
    ['in base64', b64(KNOWN)],
    ['in base64 without padding', b64(KNOWN).replace(/=+$/, '')],
    ['in base64url', Buffer.from(KNOWN).toString('base64url')],
    ['in hexadecimal digits', Buffer.from(KNOWN).toString('hex')],
  ])('a known value is redacted %s', (_, form) => {
    expect(knowing.text(`<${form}>`)).toBe('<[REDACTED]>');
  });

  test.each([
    ['without the line end of its file', 'hunter2-secret\n', 'hunter2-secret'],
    ['as a terminal writes its lines', 'first\nsecond\n', 'first\r\nsecond'],
    ['as a shell joins its lines', 'first\nsecond\n', 'first second'],
  ])('a known value is redacted %s', (_, value, form) => {
    expect(createRedactor({ values: [value] }).text(`[${form}]`)).toBe('[[REDACTED]]');
  });

  test.each(['', 'u', 'us', 'use'])('a known value is redacted in the base64 of a larger text after %j', (before) => {
    const redacted = knowing.text(b64(`${before}${KNOWN}${before}`));
    expect(redacted).toContain('[REDACTED]');
    const left = Buffer.from(redacted.replace('[REDACTED]', ''), 'base64').toString();
    expect(left).not.toContain(KNOWN.slice(2, 6));
  });

  test.each([0, 1, 2, 3, 4])('a known value is redacted in the base32 of a larger text, %i bytes in', (before) => {
    const base32 = execFileSync('base32', ['-w', '40'], { input: `${'u'.repeat(before)}${KNOWN}u` }).toString();
    const redacted = knowing.text(base32);
    expect(redacted).toContain('[REDACTED]');
    expect(redacted.replace('[REDACTED]', '').trim().length).toBeLessThan(22);
  });

  test('a known value is redacted in XML', () => {
    const quoting = createRedactor({ values: [`a<b>&"c"'d'`] });
    for (const form of ['a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;', `a&lt;b&gt;&amp;"c"'d'`])
      expect(quoting.text(`<p v="${form}"/>`)).toBe('<p v="[REDACTED]"/>');
  });

  test('overlapping values become one replacement, and nothing of either remains', () => {
    const both = createRedactor({ values: ['alpha-beta', 'beta-gamma'] });
    expect(both.text('[alpha-beta-gamma]')).toBe('[[REDACTED]]');
  });

  test('a value that begins like another is redacted completely', () => {
    const both = createRedactor({ values: ['hunter22', 'hunter22-and-more', 'xhunter22'] });
    expect(both.text('hunter22-and-more xhunter22')).toBe('[REDACTED] [REDACTED]');
    const { push, end } = both.stream();
    expect(push('hunter22') + push('-and-') + push('more xhunter2') + push('2') + end()).toBe('[REDACTED] [REDACTED]');
  });

  test('a value of special characters is taken literally', () => {
    const literal = createRedactor({ values: ['.*+?^$}{()|[]\\/-', '$&$1\n'] });
    expect(literal.text('a.*+?^$}{()|[]\\/-b$&$1\nc')).toBe('a[REDACTED]b[REDACTED]\nc');
  });

  test('a value with a lone surrogate is accepted', () => {
    expect(createRedactor({ values: ['abcd\ud83d'] }).text('abcd\ud83d!')).toBe('[REDACTED]!');
  });

  test('empty and very short values are ignored', () => {
    expect(createRedactor({ values: ['', 'a', 'abc'] }).text('abc')).toBe('abc');
  });

  test('a short known value is redacted in short strings too', () => {
    expect(createRedactor({ values: ['pass'] }).json({ a: 'pass', b: 'other' })).toEqual({
      a: '[REDACTED]',
      b: 'other',
    });
  });
});

describe('a stream', () => {
  const inPieces = (chunks: string[], of = knowing) => {
    const { push, end } = of.stream();
    return chunks.map(push).join('') + end();
  };

  test.each([...SHAPES, ['a header', `Authorization: Bearer ${JWT}`], ['a known value', KNOWN]])(
    '%s is redacted wherever the boundary falls',
    (_, secret) => {
      const text = `before ${secret}; after`;
      const whole = knowing.text(text);
      expect(whole).not.toBe(text);
      for (let cut = 0; cut <= text.length; cut += 1) {
        expect(inPieces([text.slice(0, cut), text.slice(cut)])).toBe(whole);
      }
      expect(inPieces(Array.from(text))).toBe(whole);
    },
  );

  test('a key within what may still be another key is redacted the same way, however the text is split', () => {
    const text = `-----BEGIN PGP PRIVATE KEY BLOCK----${PEM}${KNOWN}`;
    const whole = knowing.text(text);
    for (let cut = 0; cut <= text.length; cut += 1) {
      expect(inPieces([text.slice(0, cut), text.slice(cut)])).toBe(whole);
    }
  });

  test('passes ordinary text on at once', () => {
    const { push } = redactor.stream();
    for (const text of ['Downloading 10%', ' 20%\r', '$ ', 'Password: ', 'done.\n']) expect(push(text)).toBe(text);
  });

  test('holds back only a possible beginning of a secret, until it is ruled out', () => {
    const { push, end } = redactor.stream();
    expect(push('token gh')).toBe('token ');
    expect(push('p_abc')).toBe('');
    expect(push(' nothing, ey')).toBe('ghp_abc nothing, ');
    expect(end()).toBe('ey');
  });

  test('holds back a bounded amount of text', () => {
    for (const text of ['eyJ', 'a', '-----BEGIN PRIVATE KEY-----\n', 'Authorization: ', 'cap_', 'AIza', '-']) {
      const { push, end } = redactor.stream();
      const chunk = text.repeat(Math.ceil(40_000 / text.length));
      let given = 0;
      for (let round = 0; round < 5; round += 1) given += push(chunk).length;
      expect(end().length).toBeLessThan(20_000);
      expect(given).toBeGreaterThan(0);
    }
  });

  const secret = fc.constantFrom(
    ...SHAPES.map(([, text]) => text),
    KNOWN,
    encodeURIComponent(KNOWN),
    'Authorization: Bearer ',
  );
  const broken = fc.tuple(secret, fc.nat(), fc.nat()).map(([text, a, b]) => {
    const [from, to] = [a % text.length, b % text.length].sort((x, y) => x - y);
    return text.slice(from, to);
  });
  const noise = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({
      unit: fc.constantFrom('e', 'y', 'J', '.', '-', '_', 'c', 'a', 'p', 'A', 'K', 'I', ' ', '\n'),
      maxLength: 40,
    }),
    fc.constantFrom('eyJ', 'eyJabcdefghijkl.eyJ', '-----BEGIN ', 'PRIVATE KEY-----', 'cap_', 'AIza', 'ghp_', 'Bearer '),
  );
  const texts = fc.array(fc.oneof(secret, broken, noise), { maxLength: 12 }).map((parts) => parts.join(''));

  test('gives the same output as the whole text, however it is split', () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(), { maxLength: 20 }), (text, cuts) => {
        const places = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b);
        const chunks = places.slice(1).map((to, index) => text.slice(places[index], to));
        expect(inPieces(chunks)).toBe(knowing.text(text));
      }),
      { numRuns: 3000 },
    );
  });

  test('removes a secret from any surrounding text', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        expect(knowing.text(`${before}${KNOWN}${after}`)).not.toContain(KNOWN);
      }),
    );
  });
});

/** Quadratic time would take minutes for each of these. */
test.each([
  'eyJ',
  'eyJ-',
  'AIza',
  'cap_',
  '-----BEGIN PRIVATE KEY-----\n',
  '-----BEGIN ',
  'eyJaaaaaaaaaaaa.',
  '-',
  'xoxb-',
  'key=',
  'glpat-',
  '://a:',
  'curl -u a:"',
  '\ndata:\n  a: AAAAAAAAAAAA',
])('a long repetition of %j is processed in reasonable time', (unit) => {
  const text = unit.repeat(Math.ceil(300_000 / unit.length));
  expect(redactor.text(text).length).toBeGreaterThan(0);
});
