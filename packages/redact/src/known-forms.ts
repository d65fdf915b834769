/** Fewer bytes than this in base64 also occur by chance. */
const MIN_BASE64 = 8;

/**
 * The ways a known secret shows up in output: as it is, in a JSON string, in a URL, in base64, in hexadecimal digits, and as
 * its bytes are read by whoever takes them for Latin-1.
 */
export const knownForms = (value: string): string[] => {
  const bytes = Buffer.from(value);
  const forms = new Set([value, JSON.stringify(value).slice(1, -1), bytes.toString('latin1')]);
  for (const form of urlForms(value)) forms.add(form);
  for (const form of base64Forms(bytes)) if (form.length >= MIN_BASE64) forms.add(form);
  for (const form of wideForms(Buffer.from(value, 'utf16le'))) if (form.length >= MIN_BASE64) forms.add(form);
  for (const form of hexForms(bytes.toString('hex'))) forms.add(form);
  for (const form of wordForms(bytes)) if (form.length >= MIN_BASE64) forms.add(form);
  return [...forms];
};

/** Digits alone, which blanks may separate, and as source text and addresses spell bytes. */
const hexForms = (hex: string): string[] =>
  [hex, hex.toUpperCase()].flatMap((digits) => {
    const pairs = digits.match(/../g) ?? [];
    return [digits, pairs.join(':'), `\\x${pairs.join('\\x')}`, `%${pairs.join('%')}`, `0x${pairs.join(',0x')}`];
  });

/** The words of 16 bits that most machines write low byte first (`od -An -x`): those that are whole, at even and odd places. */
const wordForms = (bytes: Buffer): string[] =>
  [0, 1].map((shift) => bytes.subarray(shift, bytes.length - ((bytes.length - shift) % 2))).map(swappedHex);

const swappedHex = (words: Buffer): string => Buffer.from(words).swap16().toString('hex');

/** The base64 of UTF-16, as Windows' tools write it: whole, and what is certain of it inside of a larger text. */
const wideForms = (bytes: Buffer): string[] => [
  bytes.toString('base64'),
  ...[0, 1, 2].map((shift) => base64At(bytes, shift).inner),
];

/** Encoders differ in what they leave as it is, in the blank, and in the case of the digits. */
const urlForms = (value: string): string[] => {
  // By way of bytes, because encodeURIComponent throws on half a surrogate pair.
  const component = encodeURIComponent(Buffer.from(value).toString());
  const strict = component.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const forms = [component, strict].flatMap((form) => [form, form.replaceAll('%2F', '/'), form.replaceAll('%20', '+')]);
  return forms.flatMap((form) => [form, form.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase())]);
};

/**
 * Base64 writes three bytes as four characters, so a value inside of a larger text (`user:password`) has three
 * forms, by the place where it begins; its first and last character mix with the neighbours' bits unless it ends there.
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
