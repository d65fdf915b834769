import { isPlain, isStarter, programOf } from '@capstan/argv';
import type {
  Descriptor,
  ExecutableRule,
  Executables,
  Limits,
  PolicyDocument,
  PolicyLimit,
  ToolConstraints,
} from '@capstan/contracts';
import { compileMatch, type Test } from './compile-match.js';
import type { ToolEntry } from './constraint/tool-entries.js';
import { narrowDomains } from './glob/domain-pattern.js';
import type { Part, Request } from './request.js';

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 600_000;
const DEFAULT_OUTPUT = 1_048_576;
const MAX_OUTPUT = 10_485_760;

type SomeLimits = { [Field in keyof Limits]?: Limits[Field] | undefined };
type CompiledLimit = { index: number; part: SomeLimits; fixed: Test[]; open: Test[] };

export function compileLimits({ limits = [] }: PolicyDocument): CompiledLimit[] {
  return limits.map(({ match, exec_once, ...rest }: PolicyLimit, index) => {
    const tests = compileMatch(match);
    const part = { ...rest, exec_once: exec_once === true ? ('required' as const) : exec_once };
    return { index, part, fixed: tests.filter((test) => test.fixed), open: tests.filter((test) => !test.fixed) };
  });
}

/** Caches the limits of the last timeout: copying them took longer than the rest of a decision. */
type Narrowed = { limits: Limits; last: Limits };

/** The limits of a tool, before the call is known. */
export type ToolLimits = {
  base: Narrowed;
  /** The timeout if the call does not request one. */
  timeout_ms: number;
  /** Limits that depend on the call, and the result for each combination of them seen so far. */
  open: CompiledLimit[];
  combined: Map<string, Narrowed>;
};

const MAX_COMBINED = 1000;

/** A tenant's document starts from the defaults, the installation's from the maximum. */
export function limitsOf(
  document: PolicyDocument,
  limits: CompiledLimit[],
  entries: ToolEntry[],
  request: Request,
  part: Part,
): ToolLimits {
  const { descriptor } = request;
  const applying = limits.filter(({ fixed }) => fixed.every((test) => test.holds(request)));
  const parts = [
    ...entries.map(({ constraints }) => toLimits(constraints, part)),
    ...applying.filter(({ open }) => open.length === 0).map(({ part }) => part),
  ];
  const own = entries.find(({ names_it }) => names_it)?.constraints;
  const cap = Math.min(MAX_TIMEOUT_MS, milliseconds(document.global_timeout_seconds) ?? Infinity);
  const start: Limits = {
    timeout_ms: cap,
    max_output_bytes: part === 'tenant' && own?.max_output_bytes === undefined ? DEFAULT_OUTPUT : MAX_OUTPUT,
  };
  const base = parts.reduce(narrow, start);
  const whole: Limits = part === 'tenant' ? { ...sandboxOf(descriptor), ...base } : base;
  const tool: ToolLimits = {
    base: { limits: whole, last: whole },
    combined: new Map(),
    timeout_ms:
      part === 'tenant'
        ? (milliseconds(own?.timeout_seconds) ?? descriptor.timeout_ms ?? DEFAULT_TIMEOUT_MS)
        : MAX_TIMEOUT_MS,
    open: applying.filter(({ open }) => open.length > 0),
  };
  return tool;
}

/** The limits of one call. Values that the call requests can only lower them. */
export function limitsNow(tool: ToolLimits, request: Request, left_ms: number): Limits {
  const narrowed = tool.open.length === 0 ? tool.base : combine(tool, request);
  const asked = Math.min(request.timeout_ms ?? tool.timeout_ms, left_ms, narrowed.limits.timeout_ms);
  const timeout_ms = Math.max(1, Math.floor(asked));
  if (narrowed.last.timeout_ms !== timeout_ms) narrowed.last = { ...narrowed.limits, timeout_ms };
  return narrowed.last;
}

function combine({ base, open, combined }: ToolLimits, request: Request): Narrowed {
  const applying = open.filter(({ open: tests }) => tests.every((test) => test.holds(request)));
  if (applying.length === 0) return base;
  const key = applying.map(({ index }) => index).join();
  const known = combined.get(key);
  if (known) return known;
  const limits = applying.reduce((narrowed, { part }) => narrow(narrowed, part), base.limits);
  if (combined.size >= MAX_COMBINED) combined.clear();
  const narrowed = { limits, last: limits };
  combined.set(key, narrowed);
  return narrowed;
}

/** From MED up, tools need a sandbox. LOW tools get the best one that the machine has. */
const sandboxOf = ({ runner, risk }: Descriptor): SomeLimits =>
  runner === 'exec' ? { sandbox: risk === 'LOW' ? 'preferred' : 'required' } : {};

function toLimits(constraints: ToolConstraints, part: Part): SomeLimits {
  const { allow_domains, max_size_bytes, max_response_bytes, timeout_seconds } = constraints;
  const { allow_paths, deny_paths, allow_hidden, deny_domains, deny_private_ips, max_output_bytes } = constraints;
  return defined({
    allow_paths,
    deny_paths,
    allow_hidden,
    deny_domains,
    deny_private_ips,
    max_output_bytes,
    executables: argumentsOf(constraints, part),
    timeout_ms: milliseconds(timeout_seconds),
    network: allow_domains && (allow_domains.length > 0 ? allow_domains : 'none'),
    max_size_bytes: max_size_bytes || undefined,
    max_response_bytes: max_response_bytes || undefined,
  });
}

/**
 * A tenant's list of programs vouches for those that are not known to start others: they may have any arguments. The installation's list only
 * restricts.
 */
function argumentsOf({ executables, allow_executables = [] }: ToolConstraints, part: Part): Executables[] | undefined {
  const vouched =
    part === 'tenant' ? allow_executables.map(programOf).filter((name) => !isPlain(name) && !isStarter(name)) : [];
  if (vouched.length === 0) return executables && [executables];
  return [{ ...Object.fromEntries(vouched.map((name) => [name, ANY])), ...executables }];
}

const ANY: ExecutableRule = { any: true };

/** Combines two sets of limits: the smaller, narrower or stricter value of each. */
function narrow(one: Limits, other: SomeLimits): Limits {
  return {
    ...one,
    ...defined({
      timeout_ms: least(one.timeout_ms, other.timeout_ms),
      max_output_bytes: least(one.max_output_bytes, other.max_output_bytes),
      max_response_bytes: least(one.max_response_bytes, other.max_response_bytes),
      max_size_bytes: least(one.max_size_bytes, other.max_size_bytes),
      network: narrowNetwork(one.network, other.network),
      deny_domains: union(one.deny_domains, other.deny_domains),
      deny_paths: union(one.deny_paths, other.deny_paths),
      executables: union(one.executables, other.executables),
      exec_once: strict(one.exec_once, other.exec_once, 'required'),
      ...allPaths(one, other),
      env: one.env && other.env ? one.env.filter((name) => other.env?.includes(name)) : (one.env ?? other.env),
      sandbox: strict(one.sandbox, other.sandbox, 'required'),
      seccomp: strict(one.seccomp, other.seccomp, 'required'),
      deny_private_ips: strict(one.deny_private_ips, other.deny_private_ips, true),
      allow_hidden: strict(one.allow_hidden, other.allow_hidden, false),
      shell: strict(one.shell, other.shell, false),
      write: strict(one.write, other.write, false),
      output_schema: strict(one.output_schema, other.output_schema, 'enforce'),
    }),
  };
}

export const least = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
const strict = <T>(one: T | undefined, other: T | undefined, strictest: T) =>
  one === strictest || other === strictest ? strictest : (one ?? other);
export const union = <T>(one: T[] | undefined, other: T[] | undefined) =>
  one && other ? [...new Set([...one, ...other])] : (one ?? other);

/** Two lists of globs have no computable intersection, so both are kept: the decision and the runner check each. */
export function allPaths(one: SomeLimits, other: SomeLimits): Pick<SomeLimits, 'allow_paths' | 'also_allow_paths'> {
  const lists = [one, other].flatMap(({ allow_paths, also_allow_paths = [] }) => [
    ...(allow_paths ? [allow_paths] : []),
    ...also_allow_paths,
  ]);
  const [allow_paths, ...also] = [...new Map(lists.map((list) => [list.join('\n'), list])).values()];
  return { allow_paths, also_allow_paths: also.length > 0 ? also : undefined };
}

export function narrowNetwork(one: Limits['network'], other: Limits['network']): Limits['network'] {
  if (one === undefined || other === undefined) return one ?? other;
  if (one === 'none' || other === 'none') return 'none';
  const narrowed = narrowDomains(one, other);
  return narrowed.length > 0 ? narrowed : 'none';
}

const milliseconds = (seconds: number | undefined) =>
  seconds === undefined ? undefined : Math.max(1, Math.min(MAX_TIMEOUT_MS, Math.round(seconds * 1000)));

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };
const defined = <T extends object>(value: T): Defined<T> =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Defined<T>;
