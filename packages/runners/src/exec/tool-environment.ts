import type { Limits } from '@capstan/contracts';
import type { Environment, ExecRun } from './exec-run.js';
import type { Program } from './program.js';

/** What a tool may always know of the worker. HOME and TMPDIR are its own; the worker's are not even there for it. */
const INHERITED = ['LANG', 'LC_ALL'];
/** What the worker itself connects with; no policy gives it away. Variables that give orders to the loader neither. */
const NEVER = /^(CAPSTAN_|DATABASE_URL$|REDIS_URL$|PG|LD_|DYLD_|GLIBC_)/;
const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)=(secret:\/\/.+)$/s;

/** The whole environment of a tool: nothing of the worker's reaches it but by its name. */
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
    TERM: program.tty ? 'xterm-256color' : undefined,
    ...grantedEnvironment(host.env, program, call.limits),
  });
};

/** What the policy allows and, for tools that say what they need, they ask for. */
const grantedEnvironment = (
  worker: Environment,
  { declared_env }: Pick<Program, 'declared_env'>,
  { env = [] }: Pick<Limits, 'env'>,
): Environment =>
  pick(
    worker,
    env.filter((name) => !NEVER.test(name) && (declared_env === null || declared_env.includes(name))),
  );

/** `NAME=secret://reference` among what a tool declares, where the policy allows that name. */
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
