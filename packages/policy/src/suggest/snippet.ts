import { shapeOf, suggestExecutable } from '@capstan/argv';
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

/** They destroy what they are pointed at: allowed as such, they would be allowed for everything. */
const DESTROYING = new Set('rm rmdir unlink shred dd truncate mv chmod chown kill killall pkill mkfs'.split(' '));

/** An entry that allows these programs; one that destroys things gets the arguments of this call alone, and a person who agrees. */
export function programEntry(descriptor: Descriptor, inputs: JsonObject, programs: string[]): string {
  const { tool_id } = descriptor;
  const [program = ''] = programs;
  const name = program.slice(program.lastIndexOf('/') + 1);
  const allow = entryOf(tool_id, { allow_executables: programs });
  if (!DESTROYING.has(name)) return allow;
  const { args } = splitCommand(descriptor, inputs);
  const shape = toYaml({ [name]: { shapes: [shapeOf(args)] } });
  return [
    `${allow}\n    executables: ${shape}`,
    `rules:\n  - id: ask-for-${name}\n    effect: hold\n    match: { tool: ${toYaml(tool_id)} }`,
    `    if: ${JSON.stringify(`inputs.cmd[0] == ${JSON.stringify(program)}`)}`,
  ].join('\n');
}

const splitCommand = (descriptor: Descriptor, inputs: JsonObject): { file: string; args: string[] } => {
  const [file = '', ...args] = commandIn(descriptor, inputs) ?? [];
  return { file, args };
};

/** The program that the call starts, with the arguments that it has. */
export function executablesOf(descriptor: Descriptor, inputs: JsonObject): Executables {
  const { file, args } = splitCommand(descriptor, inputs);
  const { program, rule } = suggestExecutable({ file, args, chosen_by: 'caller' });
  return { [program]: rule };
}

/** A path stands for itself in a list of globs, as far as it has none of their signs. */
export const pathsOf = (descriptor: Descriptor, inputs: JsonObject): string[] =>
  named(() => pathsIn(descriptor, inputs));

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
