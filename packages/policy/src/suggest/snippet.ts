import { isDestructive, judgeCommand, suggestExecutable } from '@capstan/argv';
import {
  type Descriptor,
  type Executables,
  INSTALLATION_POLICY,
  type JsonObject,
  type ToolConstraints,
} from '@capstan/contracts';
import { canonicalHost, isDeniedAddress } from '@capstan/egress';
import { commandIn, pathsIn, urlsIn } from '../constraint/read-inputs.js';
import type { Part } from '../request.js';

const FILE = 'policy.yaml';

/** Tells how to get the policy, what to add, and how to put the policy back. */
export const addToPolicy = (yaml: string, note?: string, part: Part = 'tenant'): string => {
  const [which, name, option] =
    part === 'tenant'
      ? ['the policy', '', '']
      : ['the policy of the installation', ` ${INSTALLATION_POLICY}`, ` --name ${INSTALLATION_POLICY}`];
  return `Add this to ${which} (capstan policy get${name} > ${FILE}):\n${yaml}\nThen put it in force: capstan policy put ${FILE}${option}.${note ? ` ${note}` : ''}`;
};

/** JSON is valid YAML, so names and values need no further quoting. */
export const toYaml = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(toYaml).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, each]) => `${/^[a-z_]+$/.test(key) ? key : JSON.stringify(key)}: ${toYaml(each)}`)
    .join(', ')} }`;
};

/** Formats an entry of `tools`. */
export function entryOf(tool_id: string, constraints: ToolConstraints): string {
  const key = /^[a-z]+\.[a-z]+$/.test(tool_id) ? tool_id : JSON.stringify(tool_id);
  const lines = Object.entries(constraints).flatMap(([name, value]) =>
    value === undefined ? [] : [`    ${name}: ${toYaml(value)}`],
  );
  return ['tools:', `  ${key}:`, ...lines].join('\n');
}

const MAX_NAMED = 20;

/** Removes duplicates and limits the number. Inputs that are too large to check give an empty list. */
function named(read: () => string[]): string[] {
  try {
    return [...new Set(read())].slice(0, MAX_NAMED);
  } catch {
    return [];
  }
}

export const programsOf = (descriptor: Descriptor, inputs: JsonObject): string[] =>
  named(() => (commandIn(descriptor, inputs) ?? []).slice(0, 1).filter((program) => program !== ''));

const splitCommand = (descriptor: Descriptor, inputs: JsonObject): { file: string; args: string[] } => {
  const [file = '', ...args] = commandIn(descriptor, inputs) ?? [];
  return { file, args };
};

/** The program of a call that destroys something, or null. People would paste a suggestion that allows it without a second look. */
export function destroyerOf(descriptor: Descriptor, inputs: JsonObject): string | null {
  const { file, args } = splitCommand(descriptor, inputs);
  return isDestructive(file, args) ? file : null;
}

/** True if the program may not have these arguments unless the policy names them. */
export const needsArguments = (descriptor: Descriptor, inputs: JsonObject): boolean =>
  !judgeCommand({ ...splitCommand(descriptor, inputs), chosen_by: 'caller' }, [], { shell: false }).allowed;

/** The program that the call starts, with its arguments. */
export function executablesOf(descriptor: Descriptor, inputs: JsonObject): Executables {
  const { file, args } = splitCommand(descriptor, inputs);
  const { program, rule } = suggestExecutable({ file, args, chosen_by: 'caller' });
  return { [program]: rule };
}

/** The paths of a call that can be used as globs, because they contain no glob characters. */
export const pathsOf = (descriptor: Descriptor, inputs: JsonObject): string[] =>
  named(() => pathsIn(descriptor, inputs));

export const hostsIn = (descriptor: Descriptor, inputs: JsonObject): string[] =>
  named(() =>
    urlsIn(descriptor, inputs).flatMap((url) =>
      URL.canParse(url) ? (canonicalHost(new URL(url).hostname) ?? []) : [],
    ),
  );

/** The domains that a call connects to, as an entry of `tools`. A private address has to be allowed explicitly. */
export function domainsOf(descriptor: Descriptor, inputs: JsonObject): ToolConstraints | null {
  const hosts = hostsIn(descriptor, inputs);
  if (hosts.length === 0) return null;
  return {
    allow_domains: hosts,
    ...(hosts.some((host) => isDeniedAddress(host) !== null) ? { deny_private_ips: false } : {}),
  };
}
