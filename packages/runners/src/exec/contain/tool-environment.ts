import type { Limits } from '@capstan/contracts';
import type { Environment, ExecRun } from '../exec-run.js';
import type { Program } from '../prepare/program.js';

/** Variables of the worker that every tool gets. HOME and TMPDIR are the tool's own. */
const INHERITED = ['LANG', 'LC_ALL'];
/** The worker's own credentials, and variables that control the loader. No policy can grant them. */
const NEVER = /^(CAPSTAN_|DATABASE_URL$|REDIS_URL$|PG|LD_|DYLD_|GLIBC_)/;
const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)=(secret:\/\/.+)$/s;

/** The complete environment of a tool. It gets a variable of the worker only if that is granted by name. */
export const environmentOf = ({
  host,
  sandbox,
  program,
  call,
  work,
  tools,
  path,
  artifacts,
  temporary,
}: ExecRun): Record<string, string> => {
  const { maps_paths, identity } = sandbox;
  const own = maps_paths ? tools?.path : tools?.source;
  return defined({
    PATH: [...(own === undefined ? [] : [own]), ...path].join(':'),
    HOME: work.path,
    USER: identity === null ? host.env.USER : 'nobody',
    ...pick(host.env, INHERITED),
    TMPDIR: temporary ?? '/tmp',
    CAPSTAN_ARTIFACTS: artifacts ?? undefined,
    // git refuses to work if /etc/gitconfig exists but cannot be read.
    GIT_CONFIG_NOSYSTEM: maps_paths ? undefined : '1',
    TERM: program.tty ? 'xterm-256color' : undefined,
    ...grantedEnvironment(host.env, program, call.limits),
  });
};

/** The variables that the policy allows and, for tools that declare what they need, the tool asks for. */
const grantedEnvironment = (
  worker: Environment,
  { declared_env }: Pick<Program, 'declared_env'>,
  { env = [] }: Pick<Limits, 'env'>,
): Environment =>
  pick(
    worker,
    env.filter((name) => !NEVER.test(name) && (declared_env === null || declared_env.includes(name))),
  );

/** The `NAME=secret://reference` declarations of a tool whose names the policy allows. */
export const declaredSecrets = (
  { declared_env }: Pick<Program, 'declared_env'>,
  { env = [] }: Pick<Limits, 'env'>,
): Record<string, string> =>
  Object.fromEntries(
    (declared_env ?? []).flatMap((entry) => {
      const [, name, reference] = ASSIGNMENT.exec(entry) ?? [];
      return name !== undefined && reference !== undefined && env.includes(name) && !NEVER.test(name)
        ? [[name, reference]]
        : [];
    }),
  );

const defined = (environment: Environment): Record<string, string> => {
  const set: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) if (value !== undefined) set[name] = value;
  return set;
};

const pick = (from: Environment, names: readonly string[]): Environment =>
  Object.fromEntries(names.map((name) => [name, from[name]]));
