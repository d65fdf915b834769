import { type Capability, capabilityId, Failure } from '@capstan/contracts';
import { similarTo } from '../search/similar-to.js';
import { BUILTIN_CAPABILITIES } from './builtin-capabilities.js';
import { satisfies } from './capability-version.js';

/** All capabilities that agents can have. */
export type CapabilityRegistry = {
  list(): Capability[];
  get(id: string): Capability | undefined;
  /** These capabilities and all their dependencies, each once, dependencies first. */
  resolve(refs: readonly string[]): Capability[];
};

/** Creates a registry of the built-in and the given capabilities. Throws on conflicts: duplicate names, cycles, unsatisfied versions. */
export function createCapabilityRegistry(custom: readonly Capability[] = []): CapabilityRegistry {
  const known = new Map<string, Capability>();
  for (const capability of [...BUILTIN_CAPABILITIES, ...custom]) {
    if (known.has(capability.id)) throw refused(`The capability ${capability.id} is defined twice.`);
    known.set(capability.id, capability);
  }

  const find = (ref: string, neededBy: string | undefined): Capability => {
    const id = capabilityId(ref);
    const capability = known.get(id);
    const needed = neededBy === undefined ? '' : `, which ${neededBy} depends on`;
    if (!capability) {
      const meant = similarTo(id, [...known.keys()]).join(' or ');
      throw refused(`There is no capability ${id}${needed}.${meant && ` Did you mean ${meant}?`}`);
    }
    if (!satisfies(capability.version, ref))
      throw refused(`The capability ${id} is version ${capability.version}, not ${ref.slice(id.length + 1)}${needed}.`);
    if (capability.status === 'coming_soon') throw refused(`The capability ${id}${needed} is not available yet.`);
    return capability;
  };

  const resolve = (refs: readonly string[]): Capability[] => {
    const resolved = new Map<string, Capability>();
    const visit = (ref: string, path: string[]) => {
      const id = capabilityId(ref);
      if (path.includes(id))
        throw refused(
          `Capabilities depend on each other in a circle: ${[...path.slice(path.indexOf(id)), id].join(' → ')}.`,
        );
      const capability = find(ref, path.at(-1));
      if (resolved.has(id)) return;
      for (const dependency of capability.depends_on) visit(dependency, [...path, id]);
      resolved.set(id, capability);
    };
    for (const ref of refs) visit(ref, []);
    return [...resolved.values()];
  };

  for (const { id, status } of known.values()) if (status !== 'coming_soon') resolve([id]);
  return { list: () => [...known.values()], get: (id) => known.get(id), resolve };
}

const refused = (detail: string) =>
  new Failure('INVALID_REQUEST', { detail, suggestion: 'GET /v1/capabilities lists them.' });
