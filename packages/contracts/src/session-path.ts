/** Limits of most file systems for a name, and of an index key for the whole path. */
const MAX_PATH = 1024;
const MAX_NAME = 255;

export type SessionPath = { path: string } | { problem: string };

/** `docs//a.txt` and `/docs/./a.txt` are `/docs/a.txt`. `..` is refused, because there is nothing above `/`. */
export function toSessionPath(given: unknown): SessionPath {
  if (typeof given !== 'string') return { problem: 'path must be text' };
  const names = given.split('/').filter((name) => name !== '' && name !== '.');
  const path = `/${names.join('/')}`;
  if (names.includes('..')) return { problem: "path must not contain '..'" };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(path) || !path.isWellFormed())
    return { problem: 'path must not contain control characters' };
  if (bytes(path) > MAX_PATH) return { problem: `path is longer than ${MAX_PATH} bytes` };
  if (names.some((name) => bytes(name) > MAX_NAME))
    return { problem: `a name in path is longer than ${MAX_NAME} bytes` };
  return { path };
}

const bytes = (text: string) => new TextEncoder().encode(text).length;
