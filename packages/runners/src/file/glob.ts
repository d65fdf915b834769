import { RE2JS } from 're2js';

const MAX_KEPT = 1000;
const compiled = new Map<string, RE2JS>();

/**
 * True if a path matches a glob: `*` and `?` within a name, `**` across folders, `[abc]`, `[!abc]`, `{a,b}`. Runs on RE2, in linear time for any
 * glob.
 */
export const matchesGlob = (glob: string, path: string): boolean => compile(glob.replace(/^\.\//, '')).matches(path);

/** For searches: a glob without a slash, such as `*.txt`, is matched against the file name only. */
export const matchesName = (glob: string, path: string): boolean =>
  matchesGlob(glob, glob.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1));

function compile(glob: string): RE2JS {
  const known = compiled.get(glob);
  if (known) return known;
  if (compiled.size >= MAX_KEPT) compiled.clear();
  const ready = RE2JS.compile(toRegExp(glob), RE2JS.DOTALL);
  compiled.set(glob, ready);
  return ready;
}

function toRegExp(glob: string): string {
  let out = '';
  let depth = 0;
  for (let at = 0; at < glob.length; at++) {
    const rest = glob.slice(at);
    const set = /^\[(!|\^)?([^\]/]+)\]/.exec(rest);
    if (rest.startsWith('**/')) {
      out += '(?:.*/)?';
      at += 2;
    } else if (rest.startsWith('**')) {
      out += '.*';
      at += 1;
    } else if (set) {
      out += `[${set[1] ? '^/' : ''}${(set[2] ?? '').replace(/[\\[\]^]/g, '\\$&')}]`;
      at += set[0].length - 1;
    } else if (rest[0] === '{' && rest.includes('}')) {
      out += '(?:';
      depth++;
    } else if (rest[0] === '}' && depth > 0) {
      out += ')';
      depth--;
    } else out += literal(rest[0] ?? '', depth);
  }
  return out + ')'.repeat(depth);
}

function literal(character: string, depth: number): string {
  if (character === '*') return '[^/]*';
  if (character === '?') return '[^/]';
  if (character === ',' && depth > 0) return '|';
  return RE2JS.quote(character);
}
