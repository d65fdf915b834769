import type { JsonObject } from '@capstan/contracts';
import type { ToolFailure } from '../../runner.js';
import { invalid } from '../refused.js';
import type { Program } from './program.js';

const NUL = '\0';
/** Variables that control the loader and interpreters. A secret never has such a name. */
const FORBIDDEN_NAME =
  /^(LD_|DYLD_|GLIBC_|BASH|ENV$|IFS$|PATH$|HOME$|PS4$|NODE_OPTIONS$|PYTHON|PERL|RUBY|GIT_|CAPSTAN_)/;
/** Programs read options, commands and configuration from variables with such names, which would bypass every check of arguments. */
const GIVES_ORDERS =
  /(OPTIONS?|OPTS?|FLAGS|RC|RSH|CONF(IG)?|HOME|PATH|COMMAND|CMD|EDITOR|PAGER|BROWSER|VISUAL|SHELL|ASKPASS|TAPE|MAKEFILES|INIT|PROFILE|MAILCAPS|POSIXLY_CORRECT)$|^(XDG_|LESS|AWK|GAWK|TAR|RSYNC|SSH|MAN|ZIP|GZIP|XZ|CURL|RIPGREP|JAVA|MAKE)/;
const NAME = /^[A-Z_][A-Z0-9_]{0,127}$/;

/** Repeats the checks of admission, because this is the last place before a process starts. */
export const parseShellRunInputs = (inputs: JsonObject): Program | ToolFailure => {
  const { cmd, stdin, env = {}, tty = false, ...unknown } = inputs;
  const [name] = Object.keys(unknown);
  if (name !== undefined) return invalid(`shell.run takes cmd, stdin, env and tty, not "${name}"`);
  if (!Array.isArray(cmd)) return invalid('cmd must be an array: the executable, then its arguments');
  const [file, ...args] = cmd;
  if (typeof file !== 'string' || file === '') return invalid('cmd must begin with the name of an executable');
  if (!args.every((arg) => typeof arg === 'string')) return invalid('every element of cmd must be a string');
  if ([file, ...args].some((arg) => arg.includes(NUL))) {
    return invalid('an element of cmd holds a NUL byte, which no argument of a process can');
  }
  if (stdin !== undefined && typeof stdin !== 'string') return invalid('stdin must be a string');
  if (typeof tty !== 'boolean') return invalid('tty must be true or false');
  const variables = parseEnv(env);
  if (typeof variables === 'string') return invalid(variables);
  return {
    file,
    args,
    chosen_by: 'caller',
    literal: 0,
    stdin,
    env: variables,
    tty,
    output: 'text',
    writes: true,
    network: true,
    declared_env: null,
    tools_hash: null,
    extension_id: null,
    files: {},
  };
};

const parseEnv = (env: unknown): Record<string, string> | string => {
  if (typeof env !== 'object' || env === null || Array.isArray(env)) return 'env must be an object';
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (!NAME.test(name) || FORBIDDEN_NAME.test(name) || GIVES_ORDERS.test(name))
      return `env may not set ${name.slice(0, 100)}`;
    if (typeof value !== 'string' || !isSecretReference(value)) return `env.${name} must be a secret: secret://name`;
    variables[name] = value;
  }
  return variables;
};

const SECRET = 'secret://';

export const isSecretReference = (value: string): boolean => value.startsWith(SECRET) && value.length > SECRET.length;

export const secretName = (reference: string): string => reference.slice(SECRET.length);
