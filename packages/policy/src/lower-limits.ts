import { defaultRuleOf } from '@capstan/argv';
import { type Descriptor, type Limits, matchesWildcard, RUNNER_TRAITS } from '@capstan/contracts';
import { allPaths, least, narrowNetwork, union } from './limits.js';

/** The tenant's limits after the installation's were applied, with the names of those that became stricter; null if none did. */
export type Lowered = { limits: Limits; lowered: string[] | null };

/** Caches each pair of limits: a tool has few of them, and computing them would dominate the time of a decision. */
export function createLowering(): (own: Limits, ceiling: Limits, descriptor: Descriptor) => Lowered {
  const known = new WeakMap<Limits, { ceiling: Limits; lowered: Lowered }>();
  return (own, ceiling, descriptor) => {
    const last = known.get(own);
    if (last?.ceiling === ceiling) return last.lowered;
    const limits = lower(own, ceiling, descriptor);
    const changed = LIMITS.filter((name) => writtenOf(limits, name) !== writtenOf(own, name));
    const lowered = { limits, lowered: changed.length > 0 ? changed : null };
    known.set(own, { ceiling, lowered });
    return lowered;
  };
}

const writtenOf = (limits: Limits, name: keyof Limits): string | undefined =>
  JSON.stringify(name === 'allow_paths' ? [limits.allow_paths, limits.also_allow_paths] : limits[name]);

/** The ceiling only restricts: whatever the tenant's policy does not grant stays closed. */
export function lower(own: Limits, ceiling: Limits, descriptor: Descriptor): Limits {
  const { runner } = descriptor;
  const lowered: Limits = {
    ...own,
    timeout_ms: Math.min(own.timeout_ms, ceiling.timeout_ms),
    max_output_bytes: Math.min(own.max_output_bytes, ceiling.max_output_bytes),
  };
  const set = <Name extends keyof Limits>(name: Name, value: Limits[Name]) => {
    if (value !== undefined) lowered[name] = value;
  };
  set('max_response_bytes', least(own.max_response_bytes, ceiling.max_response_bytes));
  set('max_size_bytes', least(own.max_size_bytes, ceiling.max_size_bytes));
  set('deny_domains', union(own.deny_domains, ceiling.deny_domains));
  set('deny_paths', union(own.deny_paths, ceiling.deny_paths));
  set('executables', boundArguments(own, ceiling.executables));
  set('exec_once', ceiling.exec_once === 'required' ? 'required' : (own.exec_once ?? ceiling.exec_once));
  const { allow_paths, also_allow_paths } = allPaths(own, ceiling);
  set('allow_paths', allow_paths);
  set('also_allow_paths', also_allow_paths);
  // A process has no network unless its policy names hosts. A tool whose inputs say where to connect reaches everything that is not closed.
  if (own.network !== undefined || runner !== 'exec') set('network', narrowNetwork(own.network, ceiling.network));
  if (ceiling.allow_hidden === false) set('allow_hidden', false);
  if (own.output_schema && ceiling.output_schema === 'enforce') set('output_schema', 'enforce');
  if (own.write && ceiling.write === false) set('write', false);
  if (own.shell && ceiling.shell !== true) set('shell', false);
  if (own.deny_private_ips === false && ceiling.deny_private_ips !== false) set('deny_private_ips', true);
  if (own.env)
    set(
      'env',
      own.env.filter((name) => isOpen(name, ceiling.env) || isSecret(name, descriptor)),
    );
  if (RUNNER_TRAITS[runner].starts_processes) {
    if (ceiling.sandbox !== 'preferred') set('sandbox', 'required');
    if (ceiling.seccomp === 'required') set('seccomp', 'required');
  }
  return lowered;
}

/**
 * Keeps both lists: each that names a program has to allow it. If only the ceiling names one, the default rule of that program is added as well, so
 * that the ceiling does not grant more.
 */
function boundArguments({ executables, shell }: Limits, ceiling: Limits['executables']): Limits['executables'] {
  if (!ceiling || shell) return union(executables, ceiling);
  const named = ceiling.flatMap((list) => Object.keys(list));
  const missing = named.filter((program) => !executables?.some((list) => Object.hasOwn(list, program)));
  const defaults = Object.fromEntries(missing.map((program) => [program, defaultRuleOf(program)]));
  return [...(executables ?? []), ...(missing.length > 0 ? [defaults] : []), ...ceiling];
}

const isOpen = (name: string, open: readonly string[] = []) => open.some((pattern) => matchesWildcard(pattern, name));

/** True for a variable that the tool fills from a secret of the tenant instead of the worker's environment. */
function isSecret(name: string, { binding }: Descriptor): boolean {
  if (binding.kind !== 'command' || binding.env.includes(name)) return false;
  return binding.env.some((declared) => declared.startsWith(`${name}=secret://`));
}

const LIMITS: readonly (keyof Limits)[] = [
  'timeout_ms',
  'max_output_bytes',
  'network',
  'deny_domains',
  'deny_private_ips',
  'max_response_bytes',
  'env',
  'sandbox',
  'seccomp',
  'allow_paths',
  'deny_paths',
  'allow_hidden',
  'max_size_bytes',
  'shell',
  'executables',
  'exec_once',
  'write',
  'output_schema',
];
