const ALIASES: ReadonlyMap<string, string> = new Map([
  ['fs_read', 'fs.read'],
  ['fs_write', 'fs.write'],
  ['http_get', 'http.get'],
  ['shell_run', 'shell.run'],
]);

/** Capsule's plans and policies may write `fs_read` for `fs.read`. */
export const toolOfAlias = (name: string): string => ALIASES.get(name) ?? name;
