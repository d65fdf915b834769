import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import type { Check } from '../doctor/check.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { wrapProse } from '../format/width.js';
import type { Output } from '../output.js';
import type { Session } from '../session.js';

export const addDoctor: AddCommand = (program, cli) => {
  program
    .command('doctor')
    .description('check this machine and the gateway, and suggest fixes')
    .action((_options: object, command: Command) => cli.run(command, runDoctor));
};

const runDoctor = async (session: Session): Promise<ExitCode> => {
  const checks = await examine(session);
  const missing = checks.filter(({ state }) => state === 'missing');
  const failed = checks.filter(({ state }) => state === 'failed');
  const ok = missing.length + failed.length === 0;
  if (session.json) await session.printJson({ ok, checks });
  else {
    const width = Math.max(...checks.map(({ name }) => name.length));
    for (const check of checks) await session.out.line(formatCheck(check, width, session.out));
    await session.out.line();
    const works = checks.some(({ name, state }) => name === 'gateway' && state === 'ok');
    await session.out.line(
      missing.length > 0
        ? session.out.colors.red(`\`capstan up\` cannot start: ${missing.map(({ name }) => name).join(', ')}.`)
        : session.out.colors.green(works ? 'Capstan is up.' : '`capstan up` is ready to start.'),
    );
    for (const { found } of failed)
      await session.out.line(session.out.colors.red(`The gateway cannot be used: ${found}.`));
  }
  return ok ? EXIT.success : EXIT.failed;
};

const examine = async (session: Session): Promise<Check[]> => {
  const [
    { checkNode },
    { checkPostgres },
    { checkDataFolder },
    optional,
    sandbox,
    { checkWalls },
    gateway,
    { checkSystem },
  ] = await Promise.all([
    import('../doctor/check-node.js'),
    import('../doctor/check-postgres.js'),
    import('../doctor/check-data-folder.js'),
    import('../doctor/check-optional.js'),
    import('../doctor/check-sandbox.js'),
    import('../doctor/check-walls.js'),
    import('../doctor/check-gateway.js'),
    import('../doctor/check-system.js'),
  ]);
  const { env, cwd } = session;
  const answers = await gateway.checkGateway(session);
  const key = gateway.checkKey(session);
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
    answers,
    key,
    ...(answers.state === 'ok' && key.state === 'ok' ? await checkSystem(session) : []),
  ];
};

const formatCheck = ({ name, state, found, advice }: Check, width: number, out: Output): string => {
  const { colors } = out;
  const icon = { ok: colors.green('✓'), missing: colors.red('✗'), failed: colors.red('✗'), absent: colors.yellow('○') }[
    state
  ];
  const line = `${icon} ${name.padEnd(width)}  ${wrapProse(found, width + 4, out)}`;
  return state === 'ok' || advice === undefined
    ? line
    : `${line}\n${' '.repeat(width + 4)}${colors.cyan('→')} ${wrapProse(advice, width + 6, out)}`;
};
