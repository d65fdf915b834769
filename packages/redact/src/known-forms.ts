/** Fewer bytes than this in base64 also occur by chance. */
const MIN_BASE64 = 8;

/** The ways a known secret shows up in output: as it is, in a JSON string, in a URL, in base64, in hexadecimal digits. */
export const knownForms = (value: string): string[] => {
  const forms = new Set([value, JSON.stringify(value).slice(1, -1)]);
  for (const form of urlForms(value)) forms.add(form);
  for (const form of base64Forms(value)) {
    if (form.length >= MIN_BASE64) forms.add(form);
  }
  const hex = Buffer.from(value).toString('hex');
  forms.add(hex).add(hex.toUpperCase());
  return [...forms];
};

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
const base64Forms = (value: string): string[] =>
  [0, 1, 2].flatMap((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(value)]);
    const padded = bytes.toString('base64').slice(Math.ceil((shift * 8) / 6));
    const unpadded = padded.replace(/=+$/, '');
    const inner = (bytes.length * 8) % 6 === 0 ? unpadded : unpadded.slice(0, -1);
    return [padded, unpadded, inner].flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
  });
