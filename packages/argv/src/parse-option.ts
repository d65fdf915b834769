/** An option in a shape. `value` is the pattern of its value; null for a switch. */
export type Option = { name: string; value: string | null; optional: boolean };

const NUMBER = '-#';

export function parseOption(text: string): Option {
  if (text.endsWith('[=]')) return { name: text.slice(0, -3), value: '*', optional: true };
  const at = text.indexOf('=');
  if (at < 0) return { name: text, value: null, optional: false };
  return { name: text.slice(0, at), value: text.slice(at + 1) || '*', optional: false };
}

/** The options of a shape, by name. An option that is listed several times takes any of those values. */
export type Options = { get(name: string): readonly Option[] | undefined; takes_number: boolean };

export function compileOptions(texts: readonly string[] = []): Options {
  const options = new Map<string, Option[]>();
  for (const text of texts) {
    const option = parseOption(text);
    options.set(option.name, [...(options.get(option.name) ?? []), option]);
  }
  return { get: (name) => options.get(name), takes_number: texts.includes(NUMBER) };
}
