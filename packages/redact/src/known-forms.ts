/** The base64 or base32 of fewer bytes would match by chance. */
const MIN_BASE64 = 8;

/**
 * The forms in which a known secret appears in output: plain, in a JSON string, URL-encoded, in XML, in base64 and base32, in
 * hexadecimal, and as UTF-8 bytes misread as Latin-1.
 */
export const knownForms = (value: string): string[] => {
  const bytes = Buffer.from(value);
  const forms = new Set([value, JSON.stringify(value).slice(1, -1), bytes.toString('latin1')]);
  for (const form of urlForms(value)) forms.add(form);
  for (const form of markupForms(value)) forms.add(form);
  for (const form of base32Forms(bytes)) if (form.length >= MIN_BASE64) forms.add(form);
  for (const form of base64Forms(bytes)) if (form.length >= MIN_BASE64) forms.add(form);
  for (const form of wideForms(Buffer.from(value, 'utf16le'))) if (form.length >= MIN_BASE64) forms.add(form);
  for (const form of hexForms(bytes.toString('hex'))) forms.add(form);
  for (const form of codeForms(bytes)) forms.add(form);
  for (const encoding of ['utf16le', 'utf16be'] as const) forms.add(wideHex(value, encoding));
  for (const form of wordForms(bytes)) if (form.length >= MIN_BASE64) forms.add(form);
  return [...forms];
};

/** Plain digits, which whitespace may separate, and the notations of source code and addresses. */
const hexForms = (hex: string): string[] =>
  [hex, hex.toUpperCase()].flatMap((digits) => {
    const pairs = digits.match(/../g) ?? [];
    return [
      digits,
      pairs.join(':'),
      pairs.join('-'),
      pairs.join(','),
      `\\x${pairs.join('\\x')}`,
      `%${pairs.join('%')}`,
      `0x${pairs.join(',0x')}`,
    ];
  });

/** A number for each byte: arrays of source code and JSON, lists of `od`, octal escapes, and references of HTML. */
const codeForms = (bytes: Buffer): string[] => {
  const codes = [...bytes];
  const written = (before: string, radix: number, after: string, width = 1): string =>
    codes.map((code) => before + code.toString(radix).padStart(width, '0') + after).join('');
  return [
    codes.join(','),
    codes.join(''),
    written('\\', 8, '', 3),
    written('&#', 10, ';'),
    written('&#x', 16, ';'),
    written('&#x', 16, ';').toUpperCase().replaceAll('X', 'x'),
  ];
};

/** The digits of UTF-16 without offsets. */
const wideHex = (value: string, encoding: 'utf16le' | 'utf16be'): string => {
  const bytes = Buffer.from(value, 'utf16le');
  return (encoding === 'utf16le' ? bytes : bytes.swap16()).toString('hex');
};

/** 16-bit little-endian words, as `od -An -x` writes them on most machines: the complete words, at even and at odd offsets. */
const wordForms = (bytes: Buffer): string[] =>
  [0, 1].map((shift) => bytes.subarray(shift, bytes.length - ((bytes.length - shift) % 2))).map(swappedHex);

const swappedHex = (words: Buffer): string => Buffer.from(words).swap16().toString('hex');

/** The base64 of UTF-16, which Windows tools write: of the whole value, and the part that is fixed within a larger text. */
const wideForms = (bytes: Buffer): string[] => [
  bytes.toString('base64'),
  ...[0, 1, 2].map((shift) => base64At(bytes, shift).inner),
];

/** URL encoders differ in the characters they escape, in the space, and in the case of the digits. */
const urlForms = (value: string): string[] => {
  // Converted to bytes and back, because encodeURIComponent throws on a lone surrogate.
  const component = encodeURIComponent(Buffer.from(value).toString());
  const strict = component.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const forms = [component, strict].flatMap((form) => [form, form.replaceAll('%2F', '/'), form.replaceAll('%20', '+')]);
  return forms.flatMap((form) => [form, form.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase())]);
};

/** XML and HTML encoders differ in how they write quotes. */
const markupForms = (value: string): string[] => {
  const angles = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return ['&quot;', '&#34;', '"'].flatMap((double) =>
    ['&#39;', '&#x27;', '&apos;', "'"].map((single) => angles.replaceAll('"', double).replaceAll("'", single)),
  );
};

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base32 writes five bytes as eight characters, so it has five forms. Characters that share bits with what is around are left out. */
const base32Forms = (bytes: Buffer): string[] => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return [0, 1, 2, 3, 4].flatMap((shift) => {
    const whole = bits.slice((5 - ((shift * 8) % 5)) % 5).match(/.{5}/g) ?? [];
    const form = whole.map((five) => BASE32.charAt(Number.parseInt(five, 2))).join('');
    return [form, form.toLowerCase()];
  });
};

/**
 * Base64 writes three bytes as four characters, so a value within a larger text (`user:password`) has three forms, depending on
 * its offset. Its first and last characters share bits with their neighbors, unless the text begins or ends there.
 */
const base64Forms = (bytes: Buffer): string[] =>
  [0, 1, 2].flatMap((shift) => {
    const { padded, unpadded, inner } = base64At(bytes, shift);
    return [padded, unpadded, inner].flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
  });

const base64At = (value: Buffer, shift: number) => {
  const bytes = Buffer.concat([Buffer.alloc(shift), value]);
  const padded = bytes.toString('base64').slice(Math.ceil((shift * 8) / 6));
  const unpadded = padded.replace(/=+$/, '');
  return { padded, unpadded, inner: (bytes.length * 8) % 6 === 0 ? unpadded : unpadded.slice(0, -1) };
};
