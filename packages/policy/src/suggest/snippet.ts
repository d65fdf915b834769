import { suggestExecutable } from '@capstan/argv';
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

/** What to add, between how to get at the policy and how to put it in force. */
export const addToPolicy = (yaml: string, note?: string, part: Part = 'tenant'): string => {
  const [which, name, option] =
    part === 'tenant'
      ? ['the policy', '', '']
      : ['the policy of the installation', ` ${INSTALLATION_POLICY}`, ` --name ${INSTALLATION_POLICY}`];
  return `Add this to ${which} (capstan policy get${name} > ${FILE}):\n${yaml}\nThen put it in force: capstan policy put ${FILE}${option}.${note ? ` ${note}` : ''}`;
};

/** JSON is YAML, so that no name and no value needs more care. */
export const toYaml = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(toYaml).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, each]) => `${/^[a-z_]+$/.test(key) ? key : JSON.stringify(key)}: ${toYaml(each)}`)
    .join(', ')} }`;
};

/** An entry of `tools`. */
export function entryOf(tool_id: string, constraints: ToolConstraints): string {
  const key = /^[a-z]+\.[a-z]+$/.test(tool_id) ? tool_id : JSON.stringify(tool_id);
  const lines = Object.entries(constraints).flatMap(([name, value]) =>
    value === undefined ? [] : [`    ${name}: ${toYaml(value)}`],
  );
  return ['tools:', `  ${key}:`, ...lines].join('\n');
}

const MAX_NAMED = 20;

/** Each once, and not too many. Inputs that are too large to be looked at have nothing to name. */
function named(read: () => string[]): string[] {
  try {
    return [...new Set(read())].slice(0, MAX_NAMED);
  } catch {
    return [];
  }
}

export const programsOf = (descriptor: Descriptor, inputs: JsonObject): string[] =>
  named(() => (commandIn(descriptor, inputs) ?? []).slice(0, 1).filter((program) => program !== ''));

/** The program that the call starts, with the arguments that it has. */
export function executablesOf(descriptor: Descriptor, inputs: JsonObject): Executables {
  const [file = '', ...args] = commandIn(descriptor, inputs) ?? [];
  const { program, rule } = suggestExecutable({ file, args, chosen_by: 'caller' });
  return { [program]: rule };
}

/** A path stands for itself in a list of globs, as far as it has none of their signs. */
export const pathsOf = (inputs: JsonObject): string[] => named(() => pathsIn(inputs));

/** Where the call connects, as an entry allows it: a private address has to be allowed as such. */
export function domainsOf(descriptor: Descriptor, inputs: JsonObject): ToolConstraints | null {
  const hosts = named(() =>
    urlsIn(descriptor, inputs).flatMap((url) =>
      URL.canParse(url) ? (canonicalHost(new URL(url).hostname) ?? []) : [],
    ),
  );
  if (hosts.length === 0) return null;
  return {
    allow_domains: hosts,
    ...(hosts.some((host) => isDeniedAddress(host) !== null) ? { deny_private_ips: false } : {}),
  };
}
