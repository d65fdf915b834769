import type { JsonObject, ToolConstraints } from '@capstan/contracts';
import { compilePathGlob, type PathGlob, splitPath } from '../glob/path-glob.js';
import { type Check, type Refusal, refuse } from './constraint.js';
import { pathsIn } from './read-inputs.js';

const MAX_PATH = 4096;

/** Checks paths as text. Links are not followed here, because this package does no I/O; the runner checks the same lists when it opens the file. */
export function checkPaths(constraints: ToolConstraints, { required }: { required: boolean }): Check | null {
  const { allow_paths, deny_paths, allow_hidden, max_size_bytes } = constraints;
  if (!required && !allow_paths && !deny_paths && allow_hidden === undefined && max_size_bytes === undefined)
    return null;
  const allow = allow_paths?.map((glob) => compilePathGlob(glob, 'allow')) ?? (required ? [] : null);
  const deny = deny_paths?.map((glob) => compilePathGlob(glob, 'deny')) ?? [];
  const showHidden = allow_hidden ?? !required;
  return ({ descriptor, inputs }) => {
    const paths = pathsIn(descriptor, inputs);
    if (required && paths.length === 0) return refuse('missing_argument', 'no path is given');
    for (const path of paths) {
      const refusal = checkPath(path, allow, deny, showHidden);
      if (refusal) return refusal;
    }
    return max_size_bytes === undefined ? null : checkSize(inputs, max_size_bytes);
  };
}

function checkPath(path: string, allow: PathGlob[] | null, deny: PathGlob[], showHidden: boolean): Refusal | null {
  if (path.length > MAX_PATH || path.includes('\0')) return refuse('invalid_path', 'the path is not valid');
  if (path.startsWith('~')) return refuse('path_traversal', `${path} starts at a home directory`);
  // A backslash is a normal character on Linux and macOS, but a separator for other programs.
  if (path.split(/[/\\]/).includes('..')) return refuse('path_traversal', `${path} has ".." in it`);
  const split = splitPath(path);
  if (!showHidden && split.parts.some((part) => part.startsWith('.')))
    return refuse('allow_hidden=false', `hidden files are not allowed: ${path}`);
  const denied = deny.find((glob) => glob.matches(split));
  if (denied) return refuse(`deny_paths[${denied.source}]`, `${path} matches the deny pattern ${denied.source}`);
  if (allow === null) return null;
  if (allow.length === 0) return refuse('allow_paths=[]', 'no path is allowed');
  return allow.some((glob) => glob.matches(split))
    ? null
    : refuse('allow_paths', `${path} is not in allow_paths (${allow.map(({ source }) => source).join(', ')})`);
}

function checkSize({ content, encoding }: JsonObject, max: number): Refusal | null {
  if (max === 0) return refuse('max_size_bytes', 'max_size_bytes is 0, so nothing may be read or written');
  if (typeof content !== 'string' || content.length <= max / 4) return null;
  const size = Buffer.byteLength(content, encoding === 'base64' ? 'base64' : 'utf8');
  return size > max ? refuse('max_size_bytes', `${size} bytes are more than max_size_bytes, ${max}`) : null;
}
