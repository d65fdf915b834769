import type { Sandbox } from '@capstan/sandbox';
import type { Call, ToolFailure } from '../../runner.js';
import { declaredSecrets } from '../contain/tool-environment.js';
import type { Secrets } from '../exec-run.js';
import { invalid } from '../refused.js';
import type { Program } from './program.js';
import { isSecretReference, secretName } from './shell-run-inputs.js';

/** Resolves secret references in the environment and stdin. Never on a command line, which everybody can read. */
export const resolveSecrets = async (
  program: Program,
  call: Call,
  sandbox: Sandbox,
): Promise<Secrets | ToolFailure> => {
  if ([program.file, ...program.args].some((arg) => arg.includes('secret://')))
    return invalid('a secret cannot be an argument, which every process can read; pass it in env or as stdin');
  const references = { ...declaredSecrets(program, call.limits), ...program.env };
  const hosts = hostsOf(program, call, sandbox);
  const resolve = (reference: string) => call.secret(secretName(reference), hosts);
  const env: Record<string, string> = {};
  for (const [name, reference] of Object.entries(references)) env[name] = await resolve(reference);
  const { stdin } = program;
  return { env, stdin: stdin !== undefined && isSecretReference(stdin) ? await resolve(stdin) : stdin };
};

/** All hosts that the tool can reach. At the level `process` that is every host. */
const hostsOf = ({ network }: Program, { limits }: Call, { maps_paths }: Sandbox): readonly string[] => {
  if (!maps_paths) return ['*'];
  return network && Array.isArray(limits.network) ? limits.network : [];
};
