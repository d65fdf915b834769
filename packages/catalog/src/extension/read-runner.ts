/** The parsed name of a runner, such as `exec.postman_cli`, `analyze.response`, `browser.navigate`, `api.get`, `file.read` or `db.read`. */
export type NamedRunner =
  | { type: 'exec'; executable: string }
  | { type: 'analyze' | 'browser' | 'file' | 'db'; action: string }
  | { type: 'api'; method: string | null };

/** The native tools behind `file.*`. `read` and `write` use the workspace, the others the files of the session. */
const FILE_ACTIONS: ReadonlyMap<string, string> = new Map([
  ['read', 'fs.read'],
  ['write', 'fs.write'],
  ...['read_file', 'write_file', 'list_directory', 'grep_files', 'delete_file', 'stat_file'].map(
    (name) => [name, `cap:session_file_system:${name}`] as const,
  ),
]);

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'];

/** Null for an unknown runner. */
export function readRunner(name: string): NamedRunner | null {
  const dot = name.indexOf('.');
  const rest = name.slice(dot + 1);
  if (dot < 1 || rest === '') return null;
  switch (name.slice(0, dot)) {
    case 'exec': {
      const executable = rest.replace(/_(cli|tool)$/, '');
      return /^[A-Za-z0-9_][A-Za-z0-9._+-]*$/.test(executable) ? { type: 'exec', executable } : null;
    }
    case 'analyze':
      return rest === 'response' || rest === 'schema' ? { type: 'analyze', action: name } : null;
    case 'browser':
      return /^[a-z_]+$/.test(rest) ? { type: 'browser', action: name } : null;
    case 'api':
      if (rest === 'call') return { type: 'api', method: null };
      return METHODS.includes(rest) ? { type: 'api', method: rest.toUpperCase() } : null;
    case 'file': {
      const action = FILE_ACTIONS.get(rest);
      return action === undefined ? null : { type: 'file', action };
    }
    case 'db':
      return rest === 'read' || rest === 'query' ? { type: 'db', action: name } : null;
    default:
      return null;
  }
}
