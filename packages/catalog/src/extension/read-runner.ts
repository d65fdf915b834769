/** What the name of a runner means: `exec.postman_cli`, `analyze.response`, `browser.navigate`, `api.get`. */
export type NamedRunner =
  | { type: 'exec'; executable: string }
  | { type: 'analyze' | 'browser'; action: string }
  | { type: 'api'; method: string | null };

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'];

/** Null when no runner has that name. */
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
    default:
      return null;
  }
}
