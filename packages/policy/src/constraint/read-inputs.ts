import type { Descriptor, Json, JsonObject } from '@capstan/contracts';

const MAX_DEPTH = 64;
const MAX_TEXTS = 100_000;

type Named = { name: string; text: string };

/** Every text in the inputs, with the name of its field. Throws if the inputs are too large to be checked completely. */
function textsIn(inputs: JsonObject): Named[] {
  const found: Named[] = [];
  const visit = (name: string, value: Json, depth: number): void => {
    if (found.length >= MAX_TEXTS || depth > MAX_DEPTH) throw new Error('the inputs are too large to be judged');
    if (typeof value === 'string') found.push({ name, text: value });
    else if (Array.isArray(value)) for (const each of value) visit(name, each, depth + 1);
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) visit(key, each, depth + 1);
  };
  visit('', inputs, 0);
  return found;
}

const PATH_NAME =
  /^(path|paths|file|files|filename|dir|dirs|directory|directories|folder|cwd|src|dst|source|destination|target|root)$|_(path|paths|file|files|dir|directory)$/;
const URL_NAME = /^(url|urls|uri|href|endpoint)$|_(url|uri)$/;

/** Paths, recognized by the name of their field. Includes values that the tool itself presets. */
export const pathsIn = ({ binding }: Descriptor, inputs: JsonObject): string[] =>
  [...textsIn(inputs), ...presetIn(binding)].flatMap(({ name, text }) =>
    PATH_NAME.test(name.toLowerCase()) ? [text] : [],
  );

/** Placeholders are left out: their values are inputs, and are checked as such. */
const presetIn = (binding: Descriptor['binding']): Named[] =>
  binding.kind === 'action' && binding.preset
    ? textsIn(binding.preset).filter(({ text }) => !/^\{\{[\w.-]+\}\}$/.test(text))
    : [];

/** URLs, recognized by the name of their field or by their form. Includes values that the tool itself presets. */
export function urlsIn({ binding }: Descriptor, inputs: JsonObject): string[] {
  const texts = [...textsIn(inputs), ...presetIn(binding)];
  const urls = texts.flatMap(({ name, text }) =>
    URL_NAME.test(name.toLowerCase()) || looksLikeUrl(text) ? [text] : [],
  );
  // A host with placeholders is checked when the request is sent.
  if (binding.kind === 'request' && binding.url !== undefined && URL.canParse(binding.url)) urls.push(binding.url);
  return urls;
}

const LOOKS = /^\s*[a-z][a-z0-9+.-]{0,20}:[/\\]{2}/i;
/** The name of a secret, which is not an address. Whether it may be sent to a host is checked when it is filled in. */
const SECRET = /^secret:\/\/[\w.-]{1,200}$/;
const looksLikeUrl = (text: string): boolean => LOOKS.test(text) && !SECRET.test(text);

/** The program that a call starts and its arguments, as far as they are known at this point; null if it starts none. */
export function commandIn({ binding }: Descriptor, inputs: JsonObject): string[] | null {
  if (binding.kind === 'command' || binding.kind === 'atip')
    return [binding.executable, ...textsIn(inputs).map(({ text }) => text)];
  const { cmd } = inputs;
  return Array.isArray(cmd) && cmd.every((part) => typeof part === 'string') ? cmd : null;
}

export function methodOf({ binding }: Descriptor, { method }: JsonObject): string {
  if (typeof method === 'string') return method.toUpperCase();
  return binding.kind === 'request' ? binding.method.toUpperCase() : 'GET';
}
