import type { Limits } from '@capstan/contracts';
import { matchesGlob } from './glob.js';
import { PathRefused } from './path-refused.js';

/** Throws unless the limits of this call let it touch a path; `path` is relative to the workspace, and has no links in it. */
export function checkPath(limits: Limits, root: string, path: string): void {
  const { allow_paths, deny_paths = [], allow_hidden = false } = limits;
  const fits = (glob: string) => matchesGlob(glob, glob.startsWith('/') ? `${root}/${path}` : path);
  if (!allow_hidden && path.split('/').some((name) => name.startsWith('.') && name !== '.'))
    throw new PathRefused('allow_hidden', `${path} is hidden, and hidden files are not allowed`);
  if (allow_paths && !allow_paths.some(fits)) throw new PathRefused('allow_paths', `${path} is not in allow_paths`);
  const denied = deny_paths.find(fits);
  if (denied !== undefined) throw new PathRefused(`deny_paths[${denied}]`, `${path} is denied by ${denied}`);
}
