const ALIASES: ReadonlyMap<string, string> = new Map([
  ['fs_read', 'fs.read'],
  ['fs_write', 'fs.write'],
  ['http_get', 'http.get'],
  ['shell_run', 'shell.run'],
]);

/**
 * Resolves an alias to a tool id, in calls, rules, quotas and lists of tools. Capsule's plans and policies may write `fs_read` for
 * `fs.read`; `atip:gh:pr create` and `atip:gh:pr/create` are `atip:gh:pr.create`. Wildcards are kept.
 */
export const toolOfAlias = (name: string): string =>
  name.startsWith(ATIP) ? atipId(name) : (ALIASES.get(name) ?? name);

const ATIP = 'atip:';

function atipId(name: string): string {
  const [, origin, ...path] = name.split(':');
  if (path.length === 0) return name;
  const words = path.join('.').split(/[\s/.]/);
  return `${ATIP}${origin}:${words.filter(Boolean).join('.') || '.'}`;
}
