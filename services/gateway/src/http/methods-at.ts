import type { Route } from './route.js';

/** The methods that a path can be asked with. Fastify's router looks for one method at a time, and does not tell of others. */
export function methodsAt(routes: Route[]): (path: string) => string[] {
  const patterns = routes.map(({ method, path }) => ({ methods: methodsOf(method), pattern: patternOf(path) }));
  return (path) => [...new Set(patterns.flatMap(({ methods, pattern }) => (pattern.test(path) ? methods : [])))].sort();
}

/** Fastify answers HEAD wherever there is a GET. */
const methodsOf = (method: Route['method']): string[] => (method === 'GET' ? ['GET', 'HEAD'] : [method]);

/** `/v1/keys/{id}` has one segment there, and `*` at the end takes any number of them. */
function patternOf(path: string): RegExp {
  const source = path
    .replaceAll('.', '\\.')
    .replace(/\*$/, '.*')
    .replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${source}$`);
}
