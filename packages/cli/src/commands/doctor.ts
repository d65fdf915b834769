import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import type { Check } from '../doctor/check.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { Output } from '../output.js';
import type { Session } from '../session.js';

export const addDoctor: AddCommand = (program, cli) => {
  program
    .command('doctor')
    .description('what is here, what is missing and how to get it')
    .action((_options: object, command: Command) => cli.run(command, runDoctor));
};

const runDoctor = async (session: Session): Promise<ExitCode> => {
  const checks = await examine(session);
  const missing = checks.filter(({ state }) => state === 'missing');
  if (session.json) await session.printJson({ ok: missing.length === 0, checks });
  else {
    const width = Math.max(...checks.map(({ name }) => name.length));
    for (const check of checks) await session.out.line(formatCheck(check, width, session.out));
    await session.out.line();
    await session.out.line(
      missing.length === 0
        ? session.out.colors.green('`capstan up` has all it needs.')
        : session.out.colors.red(`\`capstan up\` cannot start: ${missing.map(({ name }) => name).join(', ')}.`),
    );
  }
  return missing.length === 0 ? EXIT.success : EXIT.failed;
};

const examine = async (session: Session): Promise<Check[]> => {
  const [{ checkNode }, { checkPostgres }, { checkDataFolder }, optional, sandbox, { checkWalls }, gateway] =
    await Promise.all([
      import('../doctor/check-node.js'),
      import('../doctor/check-postgres.js'),
      import('../doctor/check-data-folder.js'),
      import('../doctor/check-optional.js'),
      import('../doctor/check-sandbox.js'),
      import('../doctor/check-walls.js'),
      import('../doctor/check-gateway.js'),
    ]);
  const { env, cwd } = session;
  return [
    checkNode(),
    checkPostgres(env),
    checkDataFolder(env, cwd),
    optional.checkRedis(env),
    sandbox.checkSandbox(env),
    ...(await checkWalls(env)),
    sandbox.checkLimits(env),
    await sandbox.checkCgroups(),
    optional.checkBrowser(env),
    await gateway.checkGateway(session),
    gateway.checkKey(session),
  ];
};

const formatCheck = ({ name, state, found, advice }: Check, width: number, { colors }: Output): string => {
  const icon = { ok: colors.green('✓'), missing: colors.red('✗'), absent: colors.yellow('○') }[state];
  const line = `${icon} ${name.padEnd(width)}  ${found}`;
  return state === 'ok' || advice === undefined
    ? line
    : `${line}\n${' '.repeat(width + 4)}${colors.cyan('→')} ${advice}`;
};
